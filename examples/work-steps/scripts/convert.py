def convert(amount, rate):
    return {"total": round(amount * rate, 2)}
