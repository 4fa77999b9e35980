-- contains(text, part)
CHARINDEX({part} COLLATE Latin1_General_100_BIN2, {text}) > 0
