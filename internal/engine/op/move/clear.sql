DELETE FROM pawl.move_table
