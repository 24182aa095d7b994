"""A very small atlas."""

COUNTRIES = {"Berlin": "Germany", "Paris": "France", "Vienna": "Austria"}
GREETINGS = {"Germany": "Guten Tag", "France": "Bonjour", "Austria": "Grüß Gott"}


def weather(data):
    return {"city": data["city"], "degrees": 10 + len(data["city"])}


def country(data):
    return {"country": COUNTRIES.get(data["city"], "nowhere")}


def greet(data):
    return GREETINGS.get(data["country"], "Hello")
