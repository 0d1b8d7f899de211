"""The commands on the console of an emulated machine: `=== begin NAME`, what was written, and
`=== end NAME STATUS ERRORS` (guest_show.sh)."""

import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fakepmu"))
from checks import check


class Log:
    def __init__(self, path):
        self.path = path
        with open(path, encoding="utf-8", errors="replace") as file:
            self.text = file.read()

    def part(self, name, statuses=(0,)):
        """What one command wrote; its exit status must be one of those."""
        found = re.search(r"=== begin %s\n(.*?)^=== end %s (\d+) ?([^\n]*)" % (name, name),
                          self.text, re.M | re.S)
        if not found:
            sys.exit("FAIL: %s: no output of %s" % (self.path, name))
        check(int(found.group(2)) in statuses, name, "exit", found.group(2), found.group(3))
        return found.group(1)

    def answer(self, name, statuses=(0,)):
        """The document of one command."""
        text = self.part(name, statuses)
        try:
            return json.loads(text)
        except ValueError:
            sys.exit("FAIL: %s: no document: %s" % (name, text[:400]))
