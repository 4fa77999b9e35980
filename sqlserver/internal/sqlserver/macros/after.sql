-- after(a, b, x, y)
({a} >= {x} AND ({a} > {x} OR {b} > {y}))
