SELECT @now AS now
