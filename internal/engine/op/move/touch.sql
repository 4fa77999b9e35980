UPDATE pawl.move SET phase = phase WHERE id = @id AND phase = @phase
