-- after(a, b, x, y)
({a}, {b}) > ({x}, {y})
