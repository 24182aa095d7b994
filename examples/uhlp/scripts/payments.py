"""A bank of three functions."""


def reserve(data):
    if data["amount"] <= 0:
        raise ValueError("An amount is more than nothing.")
    return {"id": "R-1", "amount": data["amount"]}


def charge(data):
    return {"status": "paid", "amount": data["reservation"]["amount"]}


def release(_data):
    return {"released": True}


def flaky(_data):
    raise ConnectionError("The bank does not answer.")
