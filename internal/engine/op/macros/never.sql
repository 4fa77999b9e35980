-- never()
false
