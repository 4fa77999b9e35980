-- contains(text, part)
strpos({text}, {part}) > 0
