package operatetest

func workerTests() tests { return nil }
func vitalsTests() tests { return nil }
