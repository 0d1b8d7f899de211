#!/usr/bin/env python3
"""check_page.py PAGE.html RUN.json: the page carries the document unchanged and loads nothing."""
import json
import math
import re
import sys


def same(got, want, path=""):
    if isinstance(want, float) or isinstance(got, float):
        if not math.isclose(got, want, rel_tol=1e-11):
            sys.exit("FAIL: %s: got %r, want %r" % (path, got, want))
    elif isinstance(want, dict):
        if set(got) != set(want):
            sys.exit("FAIL: %s: keys differ: %s" % (path, set(got) ^ set(want)))
        for key in want:
            same(got[key], want[key], path + "." + key)
    elif isinstance(want, list):
        if len(got) != len(want):
            sys.exit("FAIL: %s: %d elements, want %d" % (path, len(got), len(want)))
        for i, element in enumerate(want):
            same(got[i], element, "%s[%d]" % (path, i))
    elif got != want:
        sys.exit("FAIL: %s: got %r, want %r" % (path, got, want))


page = open(sys.argv[1], encoding="utf-8").read()
data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
same(json.loads(data.group(1))["runs"][0]["document"], json.load(open(sys.argv[2])))
loads = re.findall(r'<(?:link|img|iframe|script)[^>]*(?:src|href)=|@import|url\(', page)
if loads:
    sys.exit("FAIL: the page loads something: %s" % loads[:3])
