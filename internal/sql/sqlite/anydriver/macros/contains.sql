-- contains(text, part)
instr({text}, {part}) > 0
