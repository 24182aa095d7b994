def check_sums(data):
    """Adds up what a model has read. Amounts in cents, since 0.1 + 0.2 is not 0.3."""
    rows = []
    for invoice in data["invoices"] or []:
        if invoice is None:
            continue
        rows.append({**invoice, "problem": find_problem(invoice)})
    return {"rows": rows, "problems": sum(1 for row in rows if row["problem"])}


def find_problem(invoice):
    amounts = [invoice.get(name) for name in ("net", "tax", "total")]
    if any(amount is None for amount in amounts):
        return "an amount is missing"
    net, tax, total = (round(amount * 100) for amount in amounts)
    return "" if net + tax == total else f"net and tax are {(net + tax) / 100:.2f}"
