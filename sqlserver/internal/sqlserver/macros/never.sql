-- never()
1 = 0
