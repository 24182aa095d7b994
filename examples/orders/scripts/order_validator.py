"""Checks an order against a JSON Schema with nothing but the standard library."""

import json
import re
from pathlib import Path

APPLICATION = Path(__file__).resolve().parent.parent

TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
}


def validate_schema(input):
    """Returns {valid, errors, order}: a wrong order is an answer, not a failure of this step."""
    schema = json.loads((APPLICATION / input["schemaPath"]).read_text())
    try:
        order = json.loads(input.get("orderData", ""))
    except ValueError as error:
        return {"valid": False, "errors": [f"The body is not JSON: {error}"]}
    errors = list(violations(order, schema, "order"))
    print(f"{len(errors)} violations")
    return {"valid": False, "errors": errors} if errors else {"valid": True, "errors": [], "order": order}


def violations(value, schema, place):
    wanted = schema.get("type")
    if wanted and not has_type(value, wanted):
        yield f"{place} must be of type {wanted}"
        return
    if isinstance(value, dict):
        yield from object_violations(value, schema, place)
    elif isinstance(value, list):
        yield from list_violations(value, schema, place)
    elif isinstance(value, str):
        yield from text_violations(value, schema, place)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        if value < schema.get("minimum", value):
            yield f"{place} must be at least {schema['minimum']}"
        if value > schema.get("maximum", value):
            yield f"{place} must be at most {schema['maximum']}"


def has_type(value, wanted):
    if wanted == "integer":
        return isinstance(value, int) and not isinstance(value, bool)
    if wanted == "number":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[wanted])


def object_violations(value, schema, place):
    properties = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            yield f"{place}.{name} is missing"
    for name, item in value.items():
        if name in properties:
            yield from violations(item, properties[name], f"{place}.{name}")
        elif schema.get("additionalProperties") is False:
            yield f"{place}.{name} is not known"


def list_violations(value, schema, place):
    if len(value) < schema.get("minItems", 0):
        yield f"{place} must hold at least {schema['minItems']}"
    if len(value) > schema.get("maxItems", len(value)):
        yield f"{place} must hold at most {schema['maxItems']}"
    for index, item in enumerate(value):
        yield from violations(item, schema.get("items", {}), f"{place}[{index}]")


def text_violations(value, schema, place):
    if len(value) < schema.get("minLength", 0):
        yield f"{place} is too short"
    if len(value) > schema.get("maxLength", len(value)):
        yield f"{place} is too long"
    if "pattern" in schema and not re.search(schema["pattern"], value):
        yield f"{place} does not match {schema['pattern']}"
