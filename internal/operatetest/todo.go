package operatetest

func auditTests() tests  { return nil }
func workerTests() tests { return nil }
func vitalsTests() tests { return nil }
