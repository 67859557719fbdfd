"""openapi_document.py FILE: judges an OpenAPI 3.1 document: that it is built as the specification
says, of the parts of it that are used here; that references lead somewhere, each part is used, and
each example fits its schema. Prints what is wrong, a line each.

Also for others: an operation with what it takes and answers, and validators."""
import json
import re
import sys

from jsonschema import Draft202012Validator

METHODS = ("get", "put", "post", "delete", "patch")


def closed(required, optional=""):
    """The schema of an object with these members and no others."""
    names = required.split() + optional.split()
    return {"type": "object", "required": required.split(), "additionalProperties": False,
            "properties": {name: {"$ref": f"#/$defs/{name}"} if name in SHAPES else {} for name in names}}


def named(of, key="^[A-Za-z0-9]+$"):
    return {"type": "object", "patternProperties": {key: of}, "additionalProperties": False}


TEXT = {"type": "string", "minLength": 1}
REF = {"type": "object", "required": ["$ref"], "additionalProperties": False,
       "properties": {"$ref": {"type": "string", "pattern": "^#/components/"}}}
SCHEMA = {"type": "object"}                     # Draft202012Validator judges it
SHAPES = ("info", "servers", "tags", "paths", "components", "parameters", "requestBody", "responses",
          "content", "headers", "schema", "summary", "description", "operationId", "title", "version")


def or_ref(of):
    return {"if": {"required": ["$ref"]}, "then": REF, "else": of}


def shape():
    """The schema of a document."""
    parameter = closed("name in description schema", "required example")
    parameter["properties"].update(name=TEXT, required={"type": "boolean"},
                                   **{"in": {"enum": ["query", "header", "path"]}})
    response = closed("description", "content headers")
    operation = closed("operationId summary responses", "tags description parameters requestBody security")
    operation["properties"]["tags"] = {"type": "array", "items": TEXT}
    security = {"type": "object", "required": ["type"]}
    components = closed("schemas", "parameters responses securitySchemes")
    components["properties"].update(schemas=named(SCHEMA), parameters=named(parameter),
                                    responses=named(response), securitySchemes=named(security))
    document = closed("openapi info servers paths components", "tags security")
    document["properties"]["openapi"] = {"pattern": r"^3\.1\.\d+$"}
    document["$defs"] = {
        "title": TEXT, "version": TEXT, "summary": TEXT, "description": TEXT, "operationId": TEXT,
        "info": closed("title version", "summary description"),
        "servers": {"type": "array", "minItems": 1, "items": closed("url", "description")},
        "tags": {"type": "array", "items": {**closed("description"), "required": ["name"],
                                            "properties": {"name": TEXT, "description": TEXT}}},
        "paths": named({"type": "object", "minProperties": 1, "additionalProperties": False,
                        "properties": {method: operation for method in METHODS}}, "^/"),
        "components": components,
        "parameters": {"type": "array", "items": or_ref(parameter)},
        "requestBody": {**closed("content", "required description")},
        "responses": named(or_ref(response), "^([1-5][0-9][0-9]|default)$"),
        "content": named(closed("schema", "example"), "^[a-z]+/[a-z0-9.+-]+(; [a-z0-9]+=[a-z0-9.-]+)*$"),
        "headers": {"type": "object"},
        "schema": SCHEMA,
    }
    return document


class Document:
    def __init__(self, data):
        self.data = data
        self.validators = {}

    def whole(self, part):
        """The part itself, or what it refers to."""
        while isinstance(part, dict) and set(part) == {"$ref"}:
            part = self.at(part["$ref"])
        return part

    def at(self, ref):
        found = self.data
        for name in ref.removeprefix("#/").split("/"):
            found = found[name]
        return found

    def validator(self, schema):
        """Kept, as each is asked often; by the object, which stays as long as the document."""
        if id(schema) not in self.validators:
            whole = {**schema, "components": self.data["components"]}
            self.validators[id(schema)] = Draft202012Validator(whole)
        return self.validators[id(schema)]

    def misfit(self, schema, value):
        """What about the value does not fit, or None."""
        for error in self.validator(schema).iter_errors(value):
            return f"{error.json_path}: {error.message[:300]}"
        return None

    def misfit_of_get(self, path, body):
        """What about the body of a 200 does not fit, or None."""
        answer = self.response(self.data["paths"][path]["get"], 200)
        return self.misfit(answer["content"]["application/json"]["schema"], body)

    def operations(self):
        """(path, method, operation) of each."""
        for path, methods in self.data["paths"].items():
            for method, operation in methods.items():
                yield path, method, operation

    def parameters(self, operation, where="query"):
        whole = map(self.whole, operation.get("parameters", ()))
        return {parameter["name"]: parameter for parameter in whole if parameter["in"] == where}

    def response(self, operation, status):
        """What is said of an answer with this status; None: nothing."""
        responses = operation["responses"]
        return self.whole(responses.get(str(status), responses.get("default")))


def every(value, path="#"):
    """(path, object) of each object in it."""
    if isinstance(value, dict):
        yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        yield from every(inner, f"{path}/{name}")


def wrong_shape(document):
    for error in Draft202012Validator(shape()).iter_errors(document.data):
        yield f"{error.json_path}: {error.message[:300]}"


def wrong_references(document):
    used = set()
    for path, part in every(document.data):
        ref = part.get("$ref")
        if not isinstance(ref, str):
            continue
        used.add(ref)
        try:
            document.at(ref)
        except (KeyError, TypeError):
            yield f"{path}: {ref} leads nowhere"
    for kind, parts in document.data["components"].items():
        if kind != "securitySchemes":
            yield from (f"#/components/{kind}/{name} is used nowhere" for name in parts
                        if f"#/components/{kind}/{name}" not in used)


def wrong_operations(document):
    ids = [operation["operationId"] for _, _, operation in document.operations()]
    tags = {tag["name"] for tag in document.data.get("tags", ())}
    yield from (f"two operations are called {name}" for name in sorted(set(ids)) if ids.count(name) > 1)
    for path, method, operation in document.operations():
        what = f"{method} {path}"
        if unknown := set(operation.get("tags", ())) - tags:
            yield f"{what}: no tag {unknown}"
        if not any(status.startswith("2") for status in operation["responses"]):
            yield f"{what}: it never goes well"
        if ("requestBody" in operation) != (method in ("post", "put", "patch")):
            yield f"{what}: it has a body, or lacks one"
        names = [(p["in"], p["name"]) for p in map(document.whole, operation.get("parameters", ()))]
        if len(names) != len(set(names)):
            yield f"{what}: a parameter is there twice"


def wrong_schemas(document):
    """Schemas that are none; objects whose members are closed, and that require what they lack; answers
    whose members are not closed."""
    for path, part in every(document.data):
        if re.search(r"/schemas/\w+$|/schema$", path):
            try:
                Draft202012Validator.check_schema(part)
            except Exception as e:
                yield f"{path}: {e}"
        if part.get("type") == "object" and "properties" in part:
            missing = set(part.get("required", ())) - set(part["properties"])
            if missing:
                yield f"{path}: it requires {missing}, and does not have that"
            if part.get("additionalProperties") is not False and "openapi" not in part["properties"]:
                yield f"{path}: it does not say that there are no other members"


def wrong_examples(document):
    for path, part in every(document.data):
        if "schema" in part and "example" in part:
            # a query is text
            value = part["example"]
            if misfit := document.misfit(part["schema"], value):
                yield f"{path}/example: {misfit}"
        if re.search(r"/schemas/\w+$", path):
            for value in part.get("examples", ()):
                if misfit := document.misfit(part, value):
                    yield f"{path}/examples: {misfit}"


def lacking_examples(document):
    """What goes well has an example, but for this document, and for what is too large for one."""
    for path, method, operation in document.operations():
        for status, response in operation["responses"].items():
            for media in document.whole(response).get("content", {}).values():
                if status.startswith("2") and "example" not in media and \
                        operation["operationId"] not in ("openapi", "getStatus", "metrics"):
                    yield f"{method} {path}: the answer {status} has no example"


JUDGES = (wrong_shape, wrong_references, wrong_operations, wrong_schemas, wrong_examples, lacking_examples)


def load(path):
    with open(path, encoding="utf-8") as file:
        return Document(json.load(file))


def main():
    document = load(sys.argv[1])
    for judge in JUDGES:
        found = list(judge(document))
        for line in found:
            print(f"{judge.__name__}: {line}")
        if found and judge is wrong_shape:
            break                               # the others rely on it


if __name__ == "__main__":
    main()
