SELECT o_mark AS mark, o_number AS number, o_written AS written FROM pawl.generation_look()
