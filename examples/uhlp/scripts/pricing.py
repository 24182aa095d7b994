"""What the lines of an order cost."""


def price(data):
    line = data["line"]
    return {"number": data["number"], "sku": line["sku"], "price": line["quantity"] * line["price"]}


def total(data):
    return {"total": sum(price["price"] for price in data["prices"])}
