#!/usr/bin/env python3
"""The report's page as a reader meets it, in Chromium: page_test.py PAGE_TOOL [unittest arguments]

PAGE_TOOL is the program that makes pages of JSON. Exit code 77 (skipped) where Chromium or its driver is not installed.
"""
import base64
import bisect
import math

import sample_page
from page_case import PageTest, main, number, percent, rounded, with_error


class Loading(PageTest):
    def test_every_sample_opens_silently_and_fits_every_width(self):
        for name in ("paper", "hostile", "empty", "nulls"):
            for width in (360, 768, 1280):
                with self.subTest(name=name, width=width):
                    self.browser.resize(width, 800)
                    self.open(name)
                    self.run_script("dispatchEvent(new Event('beforeprint'))")  # draws all there is
                    self.assert_fits()
                    self.assert_silent()

    def test_only_the_page_itself_is_requested(self):
        self.open("paper")
        self.assertEqual(self.browser.requests(), [self.files["paper"].as_uri()])

    def test_hostile_text_is_text(self):
        sample = self.open("hostile")
        self.run_script("dispatchEvent(new Event('beforeprint')); document.querySelectorAll('details').forEach((d) => d.open = true)")
        self.wait(lambda: len(self.all("#problem-1 .runs tbody tr")) > 0)
        self.assertIsNone(self.run_script("return window.broken ?? null"))
        self.assertEqual(self.all("main script, main img, main [onerror], main a[href^=java]"), [])
        self.assertEqual(self.one("h1").get_attribute("textContent"), sample["title"])
        first = sample["problems"][0]
        self.assertEqual(self.texts("#problem-0 > h2"), [first["title"]])
        self.assertCountEqual(self.texts("#problem-0 .results tbody .name"), [row["label"] for row in first["rows"]])
        self.assertEqual(self.texts("#problem-0 .about dd")[:8], sample_page.HOSTILE)
        self.assertEqual(self.texts("#made code")[:8], sample_page.HOSTILE)
        self.assertEqual(self.texts("#problem-0 .runs .reason")[:4], [result[7] for result in first["results"]][:4])
        self.assert_silent()

    def test_empty_study_says_so(self):
        self.open("empty")
        self.assertIn("no finished run", self.one("#nothing").text)
        self.assertIn("0 runs", self.one("#facts").text)

    def test_missing_numbers_are_dashes(self):
        self.open("nulls")
        self.see_part("Convergence", problem=1)
        self.assertEqual(self.texts("#problem-1 .chart .empty")[0], "No finite value to show.")
        self.assertNotRegex(self.one("body").text, r"NaN|undefined|null\b|Infinity|\[object")

    def test_no_name_is_given_twice(self):
        self.open("paper")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        names = self.run_script("return [...document.querySelectorAll('[id]')].map((node) => node.id)")
        self.assertEqual(len(names), len(set(names)))

    def test_everything_that_acts_has_a_name_and_can_be_reached(self):
        self.open("paper")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        nameless = self.run_script("""return [...document.querySelectorAll('button, select, input, summary, a, [tabindex="0"]')]
            .filter((node) => !node.hidden && (node.tabIndex < 0 || !(node.ariaLabel || node.textContent.trim() ||
                                               node.closest('label')?.textContent.trim())))
            .map((node) => node.outerHTML.slice(0, 120))""")
        self.assertEqual(nameless, [])


class Table(PageTest):
    def rows(self, problem=0):
        """Of each row of the table: its label, and the cells by heading."""
        return self.run_script("""
            const table = document.querySelector(`#problem-${arguments[0]} .results`);
            const titles = [...table.querySelectorAll('thead th')].map((node) => node.textContent);
            return [...table.querySelectorAll('tbody tr')].map((row) => [row.querySelector('.name').textContent,
              Object.fromEntries([...row.children].map((cell, i) => [titles[i], {
                text: (cell.querySelector('.value') ?? cell).textContent, whole: cell.innerText, title: cell.title,
                paper: [...cell.querySelectorAll('.paper')].map((line) => line.textContent)}]))])""", problem)

    def check_losses(self, problem, which, measure, scale):
        expected = self.samples["paper"]["problems"][problem]["rows"]
        shown = self.rows(problem)
        sign = -1 if measure in ("r_squared", "accuracy") else 1
        able = lambda row: row["diverged"] == 0
        mean = lambda row: row[which][measure]["validation"]["mean"] if row[which][measure]["validation"] else math.inf
        order = sorted(filter(able, expected), key=lambda row: sign * mean(row))
        self.assertEqual([label for label, _ in shown][:len(order)], [row["label"] for row in order], "the best first")
        by_label = {row["label"]: row for row in expected}
        self.assertCountEqual([label for label, _ in shown], by_label)
        for (label, cells), row in ((line, by_label[line[0]]) for line in shown):
            for part in ("train", "validation", "test"):
                cell = row[which][measure][part]
                found = cells[part.capitalize()]
                with self.subTest(label=label, part=part, which=which, measure=measure):
                    if cell is None:
                        self.assertEqual(found["text"], "–")
                        continue
                    if row["diverged"]:
                        self.assertEqual(number(found["text"]), rounded(scale * cell["median"]))
                        self.assertIn("median", found["whole"])
                    else:
                        shown_text = found["whole"].split("\n")[0].replace("−", "-")
                        self.assertEqual(shown_text, with_error(scale * cell["mean"], scale * cell["deviation"]))
                    # The exact numbers stand in the tooltip, and read back the same.
                    exact = dict(part.split(" ", 1) for part in found["title"].split(", ")[:3])
                    self.assertEqual([float(exact[name]) for name in ("mean", "deviation", "median")],
                                     [cell[name] for name in ("mean", "deviation", "median")])

    def choose(self, part, measure=None, which=None):
        from selenium.webdriver.support.select import Select
        if measure:
            Select(self.one(f"{part} select")).select_by_value(measure)
        if which:
            self.one(f"{part} input[value={which}]").click()

    def test_losses_are_those_of_the_study(self):
        self.open("paper")
        for problem, measures in ((0, ["scaled_loss", "loss", "r_squared"]), (2, ["loss", "accuracy"])):
            part = self.see_part("Results", problem)
            for which in ("final", "best"):
                for measure in measures:
                    self.choose(part, measure, which)
                    self.check_losses(problem, which, measure, 100 if measure == measures[0] else 1)
        self.assert_silent()

    def test_other_columns_are_those_of_the_study(self):
        sample = self.open("paper")
        self.see_part("Results")
        by_label = {row["label"]: row for row in sample["problems"][0]["rows"]}
        for (label, cells), row in ((line, by_label[line[0]]) for line in self.rows()):
            with self.subTest(label=label):
                cell = row["lambda"]
                self.assertEqual(cells["λ"]["text"].replace("−", "-"), with_error(cell["mean"], cell["deviation"]) if cell else "–")
                self.assertEqual(cells["Diverged"]["text"], f"{row['diverged']} of {row['runs']}")
                self.assertEqual(cells["Certified"]["text"], f"{row['certified']} of {row['runs']}")
                self.assertEqual(number(cells["Seconds"]["text"]), row["seconds"] and rounded(row["seconds"]["mean"], 2))
                for title, key in (("Gap", "gap"), ("λ gap", "lambda_gap")):
                    self.assertEqual(cells[title]["text"].replace("−", "-"), percent(row[key] and row[key]["mean"]))
                for title, key in (("Gradients", "gradients"), ("Work", "work")):
                    self.assertEqual(number(cells[title]["text"]), row[key] and float(f"{row[key]['mean']:.0f}"))
                for title, goal in zip(("Work to 1\u00a0%", "Work to 0.1\u00a0%"), row["work_to"]):
                    # Runs that did not get there are counted beside the median.
                    self.assertTrue(cells[title]["text"].endswith(f" {goal['reached']} of {goal['of']}"))
                    if goal["median"] is not None:
                        self.assertEqual(number(cells[title]["text"]), rounded(goal["median"], 3))

    def test_paper_stands_beside_final_losses_alone(self):
        sample = self.open("paper")
        part = self.see_part("Results")
        by_label = {row["label"]: row for row in sample["problems"][0]["rows"]}
        for (_, cells), row in ((line, by_label[line[0]]) for line in self.rows()):
            self.assertEqual(cells["Validation"]["paper"],
                             [f"T{result['table']} {result['validation'][0]:.4g} ± {result['validation'][1]:.4g}"
                              for result in row["paper"]])
        self.choose(part, which="best")
        self.assertEqual(self.texts(f"{part} .paper"), [])
        self.choose(part, which="final", measure="loss")
        self.assertEqual(self.texts(f"{part} .paper"), [])

    def test_best_is_marked_and_never_one_that_diverged(self):
        sample = self.open("paper")
        part = self.see_part("Results")
        stable = [row for row in sample["problems"][0]["rows"] if row["diverged"] == 0]
        best = min(stable, key=lambda row: row["final"]["scaled_loss"]["validation"]["mean"])["label"]
        self.assertEqual(self.texts(f"{part} .winner .name"), [best])
        self.choose(part, measure="r_squared")
        best = max(stable, key=lambda row: row["final"]["r_squared"]["validation"]["mean"])["label"]
        self.assertEqual(self.texts(f"{part} .winner .name"), [best])
        self.assertIn(best, self.texts("#summary .card p")[0])

    def test_luck_of_the_runs_that_did_not_diverge_is_not_called_best(self):
        def lucky():
            sample = sample_page.paper()
            row = sample["problems"][0]["rows"][1]
            self.assertGreater(row["diverged"], 0)
            row["final"]["scaled_loss"]["validation"]["mean"] = 1e-3
            return sample
        self.open("lucky", lucky)
        part = self.see_part("Results")
        self.assertEqual(self.texts(f"{part} .winner .name"), ["my-hpo"])

    def test_headings_sort(self):
        sample = self.open("paper")
        part = self.see_part("Results")
        rows = sample["problems"][0]["rows"]
        labels = [label for label, _ in self.rows()]
        gaps = {row["label"]: row["gap"] and row["gap"]["mean"] for row in rows}
        known = sorted((label for label in labels if gaps[label] is not None), key=lambda label: gaps[label])
        unknown = [label for label in labels if gaps[label] is None]
        heading = next(node for node in self.all(f"{part} thead th") if node.text == "Gap")
        for order, state in ((known + unknown, "ascending"), (known[::-1] + unknown, "descending"), (labels, None)):
            heading.find_element("css selector", "button").send_keys("\ue007")
            self.assertEqual([label for label, _ in self.rows()], order)
            self.assertEqual(heading.get_attribute("aria-sort"), state)

    def test_rows_of_different_seeds_are_not_compared(self):
        """A study whose rows have no seed in common: nothing is called best, and the page says why."""
        def apart():
            sample = sample_page.paper()
            sample["problems"][0]["seeds"] = {"common": 0, "is_all": False}
            sample["problems"][1]["seeds"] = {"common": 4, "is_all": False}
            sample["problems"][1]["rows"][0]["runs"] = 4
            return sample
        self.open("apart", apart)
        part = self.see_part("Results")
        self.assertEqual(self.texts(f"{part} .winner"), [])
        self.assertEqual(self.texts(f"{part} .best"), [])
        self.assertIn("no seed in common", self.one(f"{part} .caption").text)
        sentences = self.run_script("return [...document.querySelectorAll('#summary .card')].map((card) => card.querySelector('p').textContent)")
        self.assertIn("nothing is called best", sentences[0])
        self.assertIn("so far", sentences[1])
        self.assertIn("over 4 common seeds", sentences[1])
        self.assertIn("has no more", sentences[1])
        self.assertIn("over 10 seeds", sentences[2])
        self.assertNotIn("so far", sentences[2])

    def test_test_loss_stands_in_the_summary_with_its_use(self):
        sample = self.open("paper")
        row = next(row for row in sample["problems"][0]["rows"] if row["label"] == "my-hpo")
        text = self.texts("#summary .card:first-child p")[1]
        self.assertIn(f"{rounded(100 * row['final']['scaled_loss']['test']['mean']):.4g}", text)
        self.assertIn("as long as nobody chooses", text)

    def test_three_columns_beside_the_method_fit_on_a_phone(self):
        self.browser.resize(390, 800)
        self.open("paper")
        part = self.see_part("Results")
        seen = self.run_script("""const box = document.querySelector(arguments[0] + ' .scroller').getBoundingClientRect();
            return [...document.querySelectorAll(arguments[0] + ' thead th')].filter((node) => node.getBoundingClientRect().right <= box.right)
              .map((node) => node.textContent)""", part)
        self.assertEqual(seen[:4], ["Method", "Validation", "Gap", "Work"])
        star = self.run_script("""const box = document.querySelector(arguments[0] + ' .scroller'); box.scrollLeft = 300;
            document.documentElement.style.scrollBehavior = 'auto';
            box.querySelector('.star').scrollIntoView({block: 'center', inline: 'nearest'});
            const star = box.querySelector('.star').getBoundingClientRect(); const [x, y] = [star.left + star.width / 2, star.top + star.height / 2];
            return [star.left >= box.getBoundingClientRect().left, document.elementFromPoint(x, y)?.className ?? null]""", part)
        self.assertEqual(star, [True, "star"], "the star stays in view while the table scrolls")
        self.assert_fits()

    def test_first_column_stays_on_a_phone(self):
        self.browser.resize(360, 780)
        self.open("paper")
        part = self.see_part("Results")
        places = self.run_script("""const box = document.querySelector(arguments[0] + ' .scroller'); box.scrollLeft = 400;
            return [box.scrollLeft, box.querySelector('tbody th').getBoundingClientRect().left - box.getBoundingClientRect().left]""", part)
        self.assertEqual(places[0], 400)
        self.assertLess(places[1], 3)
        self.assert_fits()

    def test_runs_are_drawn_when_opened_and_filtered(self):
        sample = self.open("paper")
        part = self.see_part("Certificates")
        self.assertEqual(self.texts(f"{part} tbody tr"), [])
        self.one(f"{part} summary").click()
        results = sample["problems"][0]["results"]
        labels = [row["label"] for row in sample["problems"][0]["rows"]]
        self.wait(lambda: len(self.all(f"{part} tbody tr")) == len(results))
        self.assertEqual(self.texts(f"{part} tbody .name"), [labels[result[0]] for result in results])
        for text, result in zip(self.texts(f"{part} tbody td:nth-child(5)"), results):
            self.assertEqual(number(text), result[4] and rounded(100 * result[4]), "in the unit of the table")
        self.one(f"{part} input[type=search]").send_keys("my-hpo-bt α=0.1 certified")
        self.wait(lambda: set(self.texts(f"{part} tbody .name")) == {"my-hpo-bt α=0.1"})


class Charts(PageTest):
    def lines(self, part):
        return sorted(int(row) for row in self.run_script(
            "return [...document.querySelectorAll(arguments[0] + ' .chart .line')].map((node) => node.dataset.row)", part))

    def pressed(self, part):
        return sorted(int(row) for row in self.run_script(
            "return [...document.querySelectorAll(arguments[0] + ' .legend li:has([aria-pressed=true])')].map((node) => node.dataset.row)", part))

    def series(self, part, row):
        return self.one(f"{part} .legend li[data-row='{row}'] .series")

    def test_first_screen_shows_the_gap_against_work_one_line_a_method(self):
        sample = self.open("paper")
        part = self.see_part("Convergence")
        rows = sample["problems"][0]["rows"]
        shown = self.lines(part)
        self.assertEqual(shown, self.pressed(part))
        self.assertCountEqual([rows[row]["method"] for row in shown], {row["method"] for row in rows})
        for row in shown:  # the best of its method that did not diverge
            stable = [each for each in rows if each["method"] == rows[row]["method"] and each["diverged"] == 0]
            best = min(stable, key=lambda each: each["final"]["scaled_loss"]["validation"]["mean"])
            self.assertEqual(rows[row]["label"], best["label"])
        self.assertEqual(self.texts(f"{part} .chart .axis-title"), ["work in gradient equivalents", "gap to the oracle, %"])
        self.assertEqual([box.is_selected() for box in self.all(f"{part} input[type=checkbox]")], [True, True, False], "log–log, lines alone")
        one = self.texts("#problem-0 > .part > h3")
        self.assertEqual(one[0], "Convergence")
        self.open("single", lambda: sample_page.study("single.study", sample_page.paper()["problems"][:1]))
        place = self.run_script("const box = document.querySelector('.chart').getBoundingClientRect(); return [box.top, box.bottom]")
        self.assertLessEqual(place[1], 900, "the picture is on the first screen")

    def test_legend_hides_and_shows_by_mouse_and_keyboard_in_every_chart(self):
        self.open("paper")
        part = self.see_part("Convergence")
        other = self.see_part("Validation loss against λ")
        before = self.lines(part)
        self.see(part)
        button = self.series(part, before[0])
        button.click()
        self.assertEqual(self.lines(part), before[1:])
        self.assertEqual(self.lines(other), before[1:])
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        button.send_keys(" ")
        self.assertEqual(self.lines(part), before)
        self.one(f"{part} .legend li[data-row='2'] .only").send_keys("\ue007")
        self.assertEqual(self.lines(part), [2])
        for name, expected in (("none", []), ("all", list(range(14))), ("one a method", before)):
            next(node for node in self.all(f"{part} .legend-tools button") if node.text == name).click()
            self.assertEqual(self.lines(part), expected)
            self.assertEqual(self.pressed(part), expected)
        self.assert_silent()

    def check_tooltip(self, part, axis="work", shown="gap"):
        """The tooltip tells of each visible row what the study has at the cursor."""
        problem = self.samples["paper"]["problems"][0]
        title, = self.texts(f"{part} .tooltip-title")
        at = number(title.split(" ")[1])
        expected = {}
        for curve in problem["curves"]:
            place = bisect.bisect_right(curve[axis], at * (1 + 1e-9)) - 1
            if curve["row"] in self.lines(part) and curve[shown][place] is not None:
                expected[problem["rows"][curve["row"]]["label"]] = rounded(100 * max(curve[shown][place], 1e-5 if shown == "gap" else -1))
        names = self.texts(f"{part} .tooltip .name")
        values = [text.strip() for text in self.texts(f"{part} .tooltip .value")]
        found = {name: number(value.replace("≤", "")) for name, value in zip(names, values) if not value.startswith("not finite")}
        self.assertEqual(found, expected)
        return at

    def test_tooltip_follows_the_pointer(self):
        from selenium.webdriver.common.action_chains import ActionChains
        self.open("paper")
        part = self.see_part("Convergence")
        chart = self.one(f"{part} .chart")
        seen = set()
        for offset in (-200, 0, 200):
            ActionChains(self.browser.driver, duration=0).move_to_element_with_offset(chart, offset, 0).perform()
            seen.add(self.check_tooltip(part))
        self.assertEqual(len(seen), 3)
        ActionChains(self.browser.driver, duration=0).move_to_element(self.one(f"{part} h3")).perform()
        self.assertFalse(self.one(f"{part} .tooltip").is_displayed())

    def test_tooltip_follows_the_keys_and_is_read_aloud(self):
        self.open("paper")
        part = self.see_part("Convergence")
        chart = self.one(f"{part} .chart")
        right, left, home, end = "\ue014", "\ue012", "\ue011", "\ue010"
        chart.send_keys(right)
        self.assertEqual(self.check_tooltip(part), 0)
        chart.send_keys(right * 5)
        fifth = self.check_tooltip(part)
        chart.send_keys(right + left)
        self.assertEqual(self.check_tooltip(part), fifth)
        chart.send_keys(end)
        curves = self.samples["paper"]["problems"][0]["curves"]
        last = max(curves[row]["work"][-1] for row in self.lines(part))
        self.assertEqual(self.check_tooltip(part), rounded(last))
        self.assertIn(f"work {last:.0f}", self.one(f"{part} [aria-live]").get_attribute("textContent"))
        chart.send_keys(home)
        self.assertEqual(self.check_tooltip(part), 0)
        chart.send_keys("\ue00c")
        self.assertFalse(self.one(f"{part} .tooltip").is_displayed())

    def test_axes_change(self):
        self.open("paper")
        part = self.see_part("Convergence")
        picture = lambda: self.run_script("return document.querySelector(arguments[0] + ' .chart .line path').getAttribute('d')", part)
        title = lambda: self.texts(f"{part} .chart .axis-title")[0]
        seen = {picture()}
        for value, text in (("iterations", "iterations"), ("seconds", "seconds")):
            self.one(f"{part} input[value={value}]").click()
            self.assertEqual(title(), text)
            seen.add(picture())
        for box in self.all(f"{part} input[type=checkbox]")[:2]:
            box.click()
            seen.add(picture())
        self.one(f"{part} input[value=loss]").click()
        seen.add(picture())
        self.assertEqual(self.texts(f"{part} .chart .axis-title")[1], "validation scaled loss × 100")
        self.assertEqual(len(seen), 6, "each choice draws another picture")
        self.assertNotIn("NaN", "".join(seen))
        self.assertEqual(self.all(f"{part} .band"), [])
        self.all(f"{part} input[type=checkbox]")[2].click()
        self.assertEqual(len(self.all(f"{part} .band")), len(self.lines(part)))
        self.one(f"{part} .chart").send_keys("\ue010")
        self.check_tooltip(part, "seconds", "median")
        self.assert_silent()

    def ticks(self, part):
        """The numbers of the x axis and of the y axis."""
        return [self.texts(f"{part} .axes text[text-anchor={anchor}]:not(.axis-title)") for anchor in ("middle", "end")]

    def drag(self, part, start, end):
        from selenium.webdriver.common.action_chains import ActionChains
        chart = self.one(f"{part} .chart")
        ActionChains(self.browser.driver).move_to_element_with_offset(chart, *start).click_and_hold() \
            .move_to_element_with_offset(chart, *end).release().perform()

    def test_drag_zooms_and_escape_shows_the_whole(self):
        self.open("paper")
        for title in ("Convergence", "Validation loss against λ", "Stability"):
            part = self.see_part(title)
            with self.subTest(title):
                line = lambda: self.run_script("return [...document.querySelectorAll(arguments[0] + ' .chart > svg > g:not(.unsaved)')]"
                                               ".map((node) => node.innerHTML)", part)
                whole, ticks = line(), self.ticks(part)
                self.assertFalse(self.one(f"{part} .whole").is_displayed())
                self.drag(part, (-150, -60), (120, 70))
                self.assertTrue(self.one(f"{part} .whole").is_displayed())
                self.assertNotEqual(self.ticks(part), ticks)
                for axis in self.ticks(part):
                    self.assertGreater(len(axis), 0)
                    self.assertEqual(len(set(axis)), len(axis), "no two numbers of an axis look the same")
                self.assertNotIn("NaN", "".join(line()))
                self.one(f"{part} .whole").click()
                self.assertEqual(self.ticks(part), ticks)
                self.one(f"{part} .chart").send_keys("+")
                self.assertNotEqual(self.ticks(part), ticks)
                self.one(f"{part} .chart").send_keys("\ue00c")
                self.assertEqual(self.ticks(part), ticks)
                self.assertEqual(line(), whole)
        self.drag(part, (10, 10), (12, 11))
        self.assertFalse(self.one(f"{part} .whole").is_displayed(), "a click is no box")
        self.assert_silent()

    def test_charts_are_saved(self):
        """What the buttons hand out, caught before the browser writes it."""
        import csv
        import io
        import xml.etree.ElementTree
        sample = self.open("paper")
        self.run_script("""window.saved = []; HTMLAnchorElement.prototype.click = function() {
            fetch_blob(this.href, this.download); };
            const blobs = new Map(), make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { const address = make.call(URL, blob); blobs.set(address, blob); return address; };
            window.fetch_blob = (address, name) => { const reader = new FileReader();
              reader.onload = () => window.saved.push([name, reader.result]); reader.readAsDataURL(blobs.get(address)); }""")
        self.browser.prefer(prefers_color_scheme="dark")
        for title, name in (("Convergence", "convergence"), ("Validation loss against λ", "validation"), ("Stability", "stability")):
            part = self.see_part(title)
            for kind in ("SVG", "PNG", "CSV"):
                self.run_script("window.saved.length = 0")
                next(node for node in self.all(f"{part} .chart-tools button") if node.text == kind).click()
                self.wait(lambda: self.run_script("return window.saved.length") == 1)
                file, address = self.run_script("return window.saved[0]")
                content = base64.b64decode(address.split(",", 1)[1])
                self.assertEqual(file, f"cookie-{name}.{kind.lower()}")
                if kind == "PNG":
                    self.assertTrue(content.startswith(b"\x89PNG"))
                elif kind == "SVG":
                    root = xml.etree.ElementTree.fromstring(content)
                    self.assertEqual(root.tag, "{http://www.w3.org/2000/svg}svg")
                    self.assertNotRegex(content.decode(), r"var\(|class=|style=|oklab|NaN")
                    colours = {node.get("stroke") for node in root.iter() if node.get("stroke")}
                    self.assertIn("my-hpo", "".join(root.itertext()))
                    if title != "Stability":
                        self.assertIn("#0a62ad", colours, "the light colour of my-hpo, on white")
                else:
                    rows = list(csv.reader(io.StringIO(content.decode())))
                    self.assertGreater(len(rows), 20)
                    self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                    if title == "Convergence":
                        curve = sample["problems"][0]["curves"][13]
                        mine = [row for row in rows if row[0] == "my-hpo"]
                        self.assertEqual([float(row[2]) for row in mine], curve["work"])
                        self.assertEqual(float(mine[5][7]), 100 * curve["gap"][5])
                        self.assertEqual(float(mine[5][4]), 100 * curve["median"][5])
        self.assert_silent()

    def test_spreadsheets_run_nothing(self):
        def formulas():
            sample = sample_page.paper()
            for problem in sample["problems"]:
                for row in problem["rows"]:
                    row["label"] = f'=cmd|"{row["label"]}"'
            return sample
        self.open("formulas", formulas)
        part = self.see_part("Results")
        self.run_script("""HTMLAnchorElement.prototype.click = function() {}; const make = URL.createObjectURL;
            URL.createObjectURL = (blob) => { blob.text().then((text) => { window.csv = text; }); return make.call(URL, blob); }""")
        self.one(f"{part} .save").click()
        text = self.wait(lambda: self.run_script("return window.csv"))
        self.assertIn("\"'=cmd|\"\"my-hpo", text)
        self.assertNotRegex(text, r'(^|\n|,|")=')

    def test_lambda_picture_ends_at_the_bounds_with_arrows(self):
        def leaving():
            sample = sample_page.paper()
            for response in sample["problems"][0]["responses"]:
                for path in response["paths"]:
                    if path["row"] == 13:
                        path["points"] += [[-14.0, 0.06], [-60.0, 0.05]]
            return sample
        self.open("leaving", leaving)
        part = self.see_part("Validation loss against λ")
        self.assertEqual(len(self.all(f"{part} .exit")), 1)
        ticks = [number(text) for text in self.ticks(part)[0]]
        self.assertGreaterEqual(min(ticks), -15.5)
        self.one(f"{part} .legend li[data-row='13'] .only").send_keys("\ue007")
        self.one(f"{part} .chart").send_keys("\ue010")
        self.assertEqual(self.one(f"{part} .tooltip").text.split("\n")[:2], ["my-hpo leaves the picture", "it ends at λ −60"])
        self.assert_silent()

    def test_names_that_differ_look_different(self):
        def long_names():
            sample = sample_page.paper()
            for problem in sample["problems"]:
                for place, row in enumerate(problem["rows"]):
                    row["method"] = f"a-method-with-a-long-name-{row['method']}"
            return sample
        self.open("long_names", long_names)
        part = self.see_part("Stability")
        names = self.texts(f"{part} .level-name")
        self.assertGreater(len(names), 3)
        self.assertEqual(len(set(names)), len(names))

    def test_lambda_picture_tells_points_of_the_chosen_seed(self):
        from selenium.webdriver.support.select import Select
        sample = self.open("paper")
        part = self.see_part("Validation loss against λ")
        problem = sample["problems"][0]
        self.one(f"{part} .legend li[data-row='3'] .only").send_keys("\ue007")
        for seed in (0, 2):
            Select(self.one(f"{part} select")).select_by_value(str(seed))
            points = problem["responses"][seed]["paths"][3]["points"]
            chart = self.one(f"{part} .chart")
            chart.send_keys("\ue010")
            words = self.one(f"{part} .tooltip").text.split("\n")
            self.assertEqual(words[0], f"{problem['rows'][3]['label']}, end")
            self.assertEqual([number(words[1][2:]), number(words[2].split()[-1])],
                             [rounded(points[-1][0]), rounded(100 * points[-1][1])])

    def test_stability_shows_every_seed(self):
        sample = self.open("paper")
        part = self.see_part("Stability")
        outcomes = [outcome for entry in sample["problems"][0]["stability"] for outcome in entry["outcomes"]]
        lost = sum(1 for outcome in outcomes if outcome[2] != "ok")
        self.assertGreater(lost, 0)
        self.assertEqual(len(self.all(f"{part} .chart .mark.lost")), lost)
        self.assertEqual(len(self.all(f"{part} .chart .mark:not(.lost)")), len(outcomes) - lost)
        shapes = [node.get_attribute("d") for node in self.all(f"{part} .methods path")]
        self.assertEqual(len(set(shapes)), len({"sho", "my-hpo-c", "my-hpo-bt"}), "methods differ in shape too")
        self.one(f"{part} .chart").send_keys("\ue014")
        self.assertEqual(self.one(f"{part} .tooltip").text.split("\n"), ["sho α=0.05", "step 0.05, seed 0", "diverged"])

    def test_charts_follow_their_width(self):
        self.open("paper")
        part = self.see_part("Convergence")
        self.browser.resize(500, 900)
        self.wait(lambda: self.run_script("""const chart = document.querySelector(arguments[0] + ' .chart');
            return chart.firstChild.viewBox.baseVal.width === Math.round(chart.clientWidth) && chart.clientWidth < 480""", part))
        self.assert_fits()


class Themes(PageTest):
    GROUNDS, TEXTS = ("--ground", "--surface", "--tint"), ("--ink", "--muted", "--accent", "--warn", "--good")

    def colours(self):
        names = [*self.GROUNDS, *self.TEXTS, *(f"--series-{place}" for place in range(10))]
        values = self.run_script("const style = getComputedStyle(document.documentElement);"
                                 "return arguments[0].map((name) => style.getPropertyValue(name).trim())", names)
        return dict(zip(names, values))

    def assert_contrast(self):
        """The ratios that WCAG 2 asks for at level AA: 4.5 for text, 3 for lines and marks."""
        def light(colour):
            parts = [int(colour[place:place + 2], 16) / 255 for place in (1, 3, 5)]
            linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
        colours = self.colours()
        pairs = [(text, ground, 4.5) for text in self.TEXTS for ground in self.GROUNDS]
        pairs += [(f"--series-{place}", "--surface", 3.0) for place in range(10)]
        for one, other, least in pairs:
            low, high = sorted((light(colours[one]), light(colours[other])))
            self.assertGreaterEqual((high + 0.05) / (low + 0.05), least, f"{one} on {other}")

    def theme(self):
        return self.run_script("return document.documentElement.dataset.theme")

    def test_as_the_system_says_until_the_reader_does(self):
        for system, other in (("light", "dark"), ("dark", "light")):
            self.browser.prefer(prefers_color_scheme=system)
            self.open("empty")
            self.run_script("localStorage.clear()")
            self.open("empty")
            self.assertEqual(self.theme(), system)
            self.assert_contrast()
            self.one("#theme").click()
            self.assertEqual(self.theme(), other)
            self.open("empty")
            self.assertEqual(self.theme(), other, "remembered")
            self.run_script("localStorage.clear()")

    def test_print_is_light_whole_and_without_controls(self):
        self.browser.prefer(prefers_color_scheme="dark", media="print")
        sample = self.open("paper")
        self.run_script("dispatchEvent(new Event('beforeprint'))")
        self.assertEqual(self.run_script("return getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)")
        self.assert_contrast()
        visible = self.run_script("return [...document.querySelectorAll('.controls, .only, .legend-tools, .contents, #theme, .waiting')]"
                                  ".filter((node) => node.offsetParent !== null).length")
        self.assertEqual(visible, 0)
        self.assertEqual(len(self.all(".chart")), 3 * len(sample["problems"]))

    def test_printing_draws_what_was_not_seen(self):
        self.open("paper")
        printed = self.browser.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
        self.assertTrue(base64.b64decode(printed["data"]).startswith(b"%PDF"))
        self.assertEqual(len(self.all(".waiting")), 0)
        self.assert_silent()


if __name__ == "__main__":
    main()
