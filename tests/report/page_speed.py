"""page_speed.py BROWSER PAGE.html: what a person waits for in a page: until it is there, and after
a click on a chip, a key in the filter, a click on a heading. Real time, headless, no network.
Exit 1 if the page is there after 5 s only, or a click takes more than half a second."""
import json
import re
import subprocess
import sys
import tempfile

SCRIPT = """<script>
(function () {
  // The click, and the layout and drawing that it asks for.
  const took = act => {
    const from = performance.now();
    act();
    void document.body.offsetHeight;
    lmroof.chart().draw();
    return performance.now() - from;
  };
  const most = acts => Math.max(...acts.map(took));
  const ready = performance.now();
  const chips = selector => Array.from(document.querySelectorAll(selector));
  const twice = list => list.flatMap(e => [() => e.click(), () => e.click()]);
  const search = document.querySelector('input[type=search]');
  const type = text => () => { search.value = text; search.dispatchEvent(new Event('input')); };
  const out = {ready, points: lmroof.rows.length,
    chips: chips('#roofs .chip, #colours .chip, #marks .chip').length,
    roofs: most(twice(chips('#roofs .chip'))), operators: most(twice(chips('#colours .chip'))),
    marks: most(twice(chips('#marks .chip'))), filter: most(['d', 'down', 'down bf16', ''].map(type)),
    sorting: most(twice(chips('#points th').slice(0, 3)))};
  const pre = document.createElement('pre');
  pre.id = 'speed';
  pre.textContent = JSON.stringify(out);
  document.body.append(pre);
})();
</script>
"""


def main(browser, path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        with open(folder + "/page.html", "w", encoding="utf-8") as out:
            out.write(page.replace("</body>\n</html>", SCRIPT + "</body>\n</html>"))
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-quic", "--disable-background-networking", "--disable-component-update",
             "--disable-sync", "--user-data-dir=" + folder + "/profile", "--window-size=1280,900",
             "--timeout=60000", "--dump-dom", "file://" + folder + "/page.html"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            timeout=120, check=False)
    found = re.search(r'<pre id="speed">(.*?)</pre>', done.stdout.decode("utf-8"), re.S)
    if found is None:
        sys.exit("the page's script left nothing: it did not get that far")
    speed = json.loads(found.group(1))
    print("page of %d bytes, %d points: there after %.0f ms" % (len(page), speed["points"],
                                                                speed["ready"]))
    acts = ("roofs", "operators", "marks", "filter", "sorting")
    print("slowest answer to a click or key: " +
          ", ".join("%s %.0f ms" % (act, speed[act]) for act in acts) +
          "; %d chips" % speed["chips"])
    sys.exit(speed["ready"] > 5000 or max(speed[act] for act in acts) > 500)


main(sys.argv[1], sys.argv[2])
