DELETE FROM pawl.move
