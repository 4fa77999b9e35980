UPDATE pawl.outbox_limit SET declared = @declared WHERE kind = @kind AND name = @name AND pattern = '' AND actor <> @actor
