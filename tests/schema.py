#!/usr/bin/env python3
"""schema.py SCHEMAS DOCUMENT...: each document is valid by the schema of its own kind.

Stricter than JSON parsers are by default: NaN, Infinity and repeated keys are errors.
"""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    print("SKIP: no python3-jsonschema: documents were not validated")
    sys.exit(77)


def refuse_constant(word):
    raise ValueError("%s is not a JSON number" % word)


def unique(pairs):
    keys = [key for key, _ in pairs]
    if len(set(keys)) != len(keys):
        raise ValueError("repeated key in %s" % keys)
    return dict(pairs)


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=refuse_constant, object_pairs_hook=unique)


def validator_of(schema, store):
    """With every schema of the folder at hand, in jsonschema before and since 4.18."""
    try:
        from referencing import Registry, Resource
    except ImportError:
        resolver = jsonschema.RefResolver(schema["$id"], schema, store=store)
        return jsonschema.Draft202012Validator(schema, resolver=resolver)
    pairs = [(name, Resource.from_contents(text)) for name, text in store.items()]
    return jsonschema.Draft202012Validator(schema, registry=Registry().with_resources(pairs))


def main():
    folder, documents = sys.argv[1], sys.argv[2:]
    if not documents:
        sys.exit("FAIL: no document named")
    store = {name: load(os.path.join(folder, name))
             for name in os.listdir(folder) if name.endswith(".json")}
    for schema in store.values():
        jsonschema.Draft202012Validator.check_schema(schema)
    failed = False
    for path in documents:
        try:
            document = load(path)
            kind = document["schema"].split(".")[1].split("/")[0]
            schema = store[kind + ".json"]
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            print("FAIL: %s: not a document of a known kind: %s" % (path, error))
            failed = True
            continue
        errors = sorted(validator_of(schema, store).iter_errors(document), key=lambda e: list(map(str, e.path)))
        for error in errors[:8]:
            best = jsonschema.exceptions.best_match([error])
            where = "".join("[%d]" % p if isinstance(p, int) else ".%s" % p for p in best.path)
            print("FAIL: %s: %s: %s" % (path, where or "top", best.message[:300]))
        failed = failed or bool(errors)
        if not errors:
            print("%s: valid %s" % (path, document["schema"]))
    sys.exit(1 if failed else 0)


main()
