#!/usr/bin/env python3
"""The report's page as a reader meets it, in Chromium: page_test.py PAGE_TOOL [unittest arguments]

PAGE_TOOL is the program that makes pages of JSON. Exit code 77 (skipped) where Chromium or its driver is not installed.
"""
import base64
import bisect

import sample_page
from page_case import PageTest, main, number, rounded


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
        self.assertEqual(self.texts("#problem-0 .results tbody .name"), [row["label"] for row in first["rows"]])
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
        self.assertEqual([label for label, _ in shown], [row["label"] for row in expected])
        for (label, cells), row in zip(shown, expected):
            for part in ("train", "validation", "test"):
                cell = row[which][measure][part]
                found = cells[part.capitalize()]
                with self.subTest(label=label, part=part, which=which, measure=measure):
                    if cell is None:
                        self.assertEqual(found["text"], "–")
                        continue
                    value = cell["median"] if row["diverged"] else cell["mean"]
                    self.assertEqual(number(found["text"]), rounded(scale * value))
                    self.assertIn("median" if row["diverged"] else "± ", found["whole"])
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
        for (label, cells), row in zip(self.rows(), sample["problems"][0]["rows"]):
            with self.subTest(label=label):
                self.assertEqual(cells["Diverged"]["text"], f"{row['diverged']} of {row['runs']}")
                self.assertEqual(cells["Certified"]["text"], f"{row['certified']} of {row['runs']}")
                for title, key, digits in (("Gap", "gap", 3), ("λ gap", "lambda_gap", 3), ("Seconds", "seconds", 2)):
                    factor = 1 if key == "seconds" else 100
                    expected = row[key] and rounded(factor * row[key]["mean"], digits)
                    self.assertEqual(number(cells[title]["text"]), expected)
                for title, key in (("Gradients", "gradients"), ("Work", "work")):
                    self.assertEqual(number(cells[title]["text"]), row[key] and float(f"{row[key]['mean']:.0f}"))
                for title, goal in zip(("Work to 1\u00a0%", "Work to 0.1\u00a0%"), row["work_to"]):
                    if goal["median"] is None:
                        self.assertEqual(cells[title]["text"].strip(), f"{goal['reached']} of {goal['of']}")
                    else:
                        self.assertEqual(number(cells[title]["text"]), rounded(goal["median"], 3))

    def test_paper_stands_beside_final_losses_alone(self):
        sample = self.open("paper")
        part = self.see_part("Results")
        for (_, cells), row in zip(self.rows(), sample["problems"][0]["rows"]):
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
        labels = [row["label"] for row in rows]
        gaps = {row["label"]: row["gap"] and row["gap"]["mean"] for row in rows}
        known = sorted((label for label in labels if gaps[label] is not None), key=lambda label: gaps[label])
        unknown = [label for label in labels if gaps[label] is None]
        heading = next(node for node in self.all(f"{part} thead th") if node.text == "Gap")
        for order, state in ((known + unknown, "ascending"), (known[::-1] + unknown, "descending"), (labels, None)):
            heading.find_element("css selector", "button").send_keys("\ue007")
            self.assertEqual([label for label, _ in self.rows()], order)
            self.assertEqual(heading.get_attribute("aria-sort"), state)

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
            self.assertEqual(number(text), rounded(result[4]))
        self.one(f"{part} input[type=search]").send_keys("my-hpo-bt α=0.1 certified")
        self.wait(lambda: set(self.texts(f"{part} tbody .name")) == {"my-hpo-bt α=0.1"})


class Charts(PageTest):
    def lines(self, part):
        return sorted(int(row) for row in self.run_script(
            "return [...document.querySelectorAll(arguments[0] + ' .chart .line')].map((node) => node.dataset.row)", part))

    def pressed(self, part):
        return [place for place, node in enumerate(self.all(f"{part} .series")) if node.get_attribute("aria-pressed") == "true"]

    def test_at_first_twelve_rows_the_best_of_each_method_among_them(self):
        sample = self.open("paper")
        part = self.see_part("Convergence")
        rows = sample["problems"][0]["rows"]
        shown = self.lines(part)
        self.assertEqual(len(shown), 12)
        self.assertEqual(shown, self.pressed(part))
        self.assertEqual({rows[row]["method"] for row in shown}, {row["method"] for row in rows})

    def test_legend_hides_and_shows_by_mouse_and_keyboard_in_every_chart(self):
        self.open("paper")
        part = self.see_part("Convergence")
        other = self.see_part("Validation loss against λ")
        before = self.lines(part)
        self.see(part)
        button = self.all(f"{part} .series")[before[0]]
        button.click()
        self.assertEqual(self.lines(part), before[1:])
        self.assertEqual(self.lines(other), before[1:])
        self.assertEqual(button.get_attribute("aria-pressed"), "false")
        button.send_keys(" ")
        self.assertEqual(self.lines(part), before)
        self.all(f"{part} .only")[2].send_keys("\ue007")
        self.assertEqual(self.lines(part), [2])
        for name, expected in (("none", []), ("all", list(range(14))), ("first choice", before)):
            next(node for node in self.all(f"{part} .legend-tools button") if node.text == name).click()
            self.assertEqual(self.lines(part), expected)
            self.assertEqual(self.pressed(part), expected)
        self.assert_silent()

    def check_tooltip(self, part, axis="iterations"):
        """The tooltip tells of each visible row what the study has at the cursor."""
        problem = self.samples["paper"]["problems"][0]
        title, = self.texts(f"{part} .tooltip-title")
        at = number(title.split(" ")[1])
        expected = {}
        for curve in problem["curves"]:
            place = bisect.bisect_right(curve[axis], at * (1 + 1e-9)) - 1
            if curve["row"] in self.lines(part) and curve["median"][place] is not None:
                expected[problem["rows"][curve["row"]]["label"]] = rounded(curve["median"][place])
        names = self.texts(f"{part} .tooltip .name")
        values = [text.strip() for text in self.texts(f"{part} .tooltip .value")]
        shown = {name: number(value) for name, value in zip(names, values) if not value.startswith("not finite")}
        self.assertEqual(shown, expected)
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
        last = max(curve["iterations"][-1] for curve in self.samples["paper"]["problems"][0]["curves"])
        self.assertEqual(self.check_tooltip(part), last)
        self.assertIn(f"iteration {last}", self.one(f"{part} [aria-live]").get_attribute("textContent"))
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
        for value, text in (("work", "work in gradient equivalents"), ("seconds", "seconds")):
            self.one(f"{part} input[value={value}]").click()
            self.assertEqual(title(), text)
            seen.add(picture())
        for box in self.all(f"{part} input[type=checkbox]")[:2]:
            box.click()
            seen.add(picture())
        self.assertEqual(len(seen), 5, "each choice draws another picture")
        self.assertNotIn("NaN", "".join(seen))
        self.all(f"{part} input[type=checkbox]")[2].click()
        self.assertEqual(self.all(f"{part} .band"), [])
        self.one(f"{part} .chart").send_keys("\ue010")
        self.check_tooltip(part, "seconds")
        self.assert_silent()

    def test_lambda_picture_tells_points_of_the_chosen_seed(self):
        from selenium.webdriver.support.select import Select
        sample = self.open("paper")
        part = self.see_part("Validation loss against λ")
        problem = sample["problems"][0]
        self.all(f"{part} .only")[3].click()
        for seed in (0, 2):
            Select(self.one(f"{part} select")).select_by_value(str(seed))
            points = problem["responses"][seed]["paths"][3]["points"]
            chart = self.one(f"{part} .chart")
            chart.send_keys("\ue010")
            words = self.one(f"{part} .tooltip").text.split("\n")
            self.assertEqual(words[0], f"{problem['rows'][3]['label']}, end")
            self.assertEqual([number(words[1][2:]), number(words[2].split()[-1])],
                             [rounded(value) for value in points[-1]])

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
