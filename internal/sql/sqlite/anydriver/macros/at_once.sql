-- at_once()
0
