#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "data/field.hpp"
#include "model/code_text.hpp"
#include "yosida/error.hpp"

namespace yosida {
namespace {

/// A string of C. Bytes outside ASCII are octal, which ends after three digits; no trigraph can arise.
std::string string_literal(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '?')
      result += std::string("\\") + c;
    else if (is_plain_character(c))
      result += c;
    else
      result += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return result + "\"";
}

std::string string_literals(const auto& texts) {
  std::string result;
  for (const auto& text : texts) result += (result.empty() ? "" : ", ") + string_literal(text);
  return result;
}

/// Words of C and C++, where the code may be included.
constexpr std::string_view kReserved[] = {
    "alignas",  "alignof", "and",     "asm",       "auto",     "bool",      "break",    "case",
    "catch",    "char",    "class",   "compl",     "const",    "constexpr", "continue", "decltype",
    "default",  "delete",  "do",      "double",    "else",     "enum",      "explicit", "export",
    "extern",   "false",   "float",   "for",       "friend",   "goto",      "if",       "inline",
    "int",      "long",    "mutable", "namespace", "new",      "noexcept",  "not",      "nullptr",
    "operator", "or",      "private", "protected", "public",   "register",  "restrict", "return",
    "short",    "signed",  "sizeof",  "static",    "struct",   "switch",    "template", "this",
    "throw",    "true",    "try",     "typedef",   "typeid",   "typename",  "typeof",   "union",
    "unsigned", "using",   "virtual", "void",      "volatile", "while",     "xor"};

void require_name(const std::string& name) {
  const auto is_letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_' ||
      !std::all_of(name.begin(), name.end(), is_letter))
    throw InputError(
        fmt::format("name = {}: must begin with a letter, and hold letters, digits and _ only", name));
  if (std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved))
    throw InputError(fmt::format("name = {}: is a word of C itself: must be another", name));
}

/// Functions that read the text of a field: 0 is the prefix, 1 the decimal mark, 2 what separates thousands,
/// 3 the texts of missing values. Each gives 1 where the text is what it must be.
constexpr std::string_view kReadMissing = R"(
/* The text without blanks around it, cut at the buffer's end. */
static void {0}_trim(const char *text, char *out, size_t size) {{
    size_t length = 0;
    if (text == NULL) text = "";
    while (*text == ' ' || *text == '\t') ++text;
    while (*text != '\0' && length + 1 < size) out[length++] = *text++;
    while (length > 0 && (out[length - 1] == ' ' || out[length - 1] == '\t')) --length;
    out[length] = '\0';
}}

static int {0}_is_missing(const char *text) {{
    static const char *const marks[] = {{{3}, "nan", "NaN", "NAN", NULL}};
    for (int i = 0; marks[i] != NULL; ++i)
        if (strcmp(text, marks[i]) == 0) return 1;
    return 0;
}}
)";

constexpr std::string_view kReadNumber = R"(
/* A number with this unit in front of it or behind it; thousands may stand apart. */
static int {0}_read_number(const char *text, const char *unit, double *value) {{
    char plain[64], all[64];
    size_t length = 0, unit_length = strlen(unit), all_length;
    int has_mark = 0;
    {0}_trim(text, all, sizeof all);
    all_length = strlen(all);
    if (unit_length > 0) {{
        if (strncmp(all, unit, unit_length) == 0)
            memmove(all, all + unit_length, all_length - unit_length + 1);
        else if (all_length >= unit_length && strcmp(all + all_length - unit_length, unit) == 0)
            all[all_length - unit_length] = '\0';
        else
            return 0;
        {0}_trim(all, plain, sizeof plain);
        strcpy(all, plain);
    }}
    for (const char *at = all; *at != '\0'; ++at) {{
        const size_t separator = has_mark ? 0
                                 : *at == '{2}' || *at == '\'' || *at == ' ' ? 1
                                 : strncmp(at, "\302\240", 2) == 0       ? 2
                                 : strncmp(at, "\342\200\257", 3) == 0   ? 3
                                                                         : 0;
        if (separator > 0) {{
            if (length == 0 || strspn(at + separator, "0123456789") != 3) return 0;
            at += separator - 1;
            continue;
        }}
        if (*at == '{1}' || *at == 'e' || *at == 'E') has_mark = 1;
        plain[length++] = *at == '{1}' ? '.' : *at;
    }}
    plain[length] = '\0';
    if (length == 0 || strspn(plain, "0123456789.eE+-") != length) return 0;
    char *end;
    *value = strtod(plain, &end);
    return *end == '\0';
}}
)";

constexpr std::string_view kReadBoolean = R"(
/* 1 for true, 0 for false. */
static int {0}_read_boolean(const char *text, double *value) {{
    static const char *const words[] = {{"false", "true"}};
    char all[8];
    {0}_trim(text, all, sizeof all);
    for (char *at = all; *at != '\0'; ++at) *at = (char)tolower((unsigned char)*at);
    for (int i = 0; i < 2; ++i)
        if (strcmp(all, words[i]) == 0) {{
            *value = i;
            return 1;
        }}
    return 0;
}}
)";

constexpr std::string_view kReadDate = R"(
/* 13:45, 13:45:07, 13:45:07.25 or 1:45 PM as a part of a day; moves the text behind it. */
static int {0}_read_time(const char **text, double *value) {{
    int hour, minute, length = 0;
    double second = 0.0;
    if (sscanf(*text, "%2d:%2d%n", &hour, &minute, &length) != 2 || hour > 24 || minute > 59) return 0;
    *text += length;
    if (**text == ':') {{
        char *end;
        second = strtod(*text + 1, &end);
        *text = end;
    }}
    const char *at = *text + (**text == ' ');
    if (*at != '\0' && strchr("AaPp", *at) != NULL) {{
        const int is_afternoon = *at == 'P' || *at == 'p', has_dots = at[1] == '.';
        at += 1 + has_dots;
        if (*at == 'M' || *at == 'm') {{
            if (hour < 1 || hour > 12) return 0;
            hour = hour % 12 + 12 * is_afternoon;
            *text = at + 1 + (has_dots && at[1] == '.');
        }}
    }}
    *value = (hour + (minute + second / 60) / 60) / 24;
    return 1;
}}

/* Whether one or two of " .,-/" stand in front; moves the text behind them. */
static int {0}_skip_marks(const char **text) {{
    const size_t marks = strspn(*text, " .,-/");
    *text += marks;
    return marks == 1 || marks == 2;
}}

/* The digits in front, at most so many; moves the text behind them. */
static int {0}_read_digits(const char **text, int most, int *value) {{
    int digits = 0;
    for (*value = 0; isdigit((unsigned char)(*text)[digits]) && digits < most; ++digits)
        *value = 10 * *value + (*text)[digits] - '0';
    *text += digits;
    return digits;
}}

/* The month whose name stands in front, 0 where none does; moves the text behind it. */
static int {0}_read_month(const char **text) {{
    static const char *const names[] = {{{3}}};
    char word[16];
    size_t length = 0;
    while (length + 1 < sizeof word && (isalpha((unsigned char)(*text)[length]) || (unsigned char)(*text)[length] >= 128)) {{
        const unsigned char c = (unsigned char)(*text)[length];
        word[length++] = (char)(c < 128 ? tolower(c) : c);
    }}
    word[length] = '\0';
    for (int month = 0; length > 0 && month < 12; ++month)
        for (const char *at = strstr(names[month], word); at != NULL; at = strstr(at + 1, word))
            if ((at == names[month] || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) {{
                *text += length;
                return month + 1;
            }}
    return 0;
}}

/* Whether this is a date with the name of its month; it becomes one with its number, the year first. */
static int {0}_number_month(char *all, size_t size) {{
    char numbers[80];
    const char *at = all;
    int first, last;
    int digits = {0}_read_digits(&at, 4, &first);
    if (digits == 3 || (digits > 0 && !{0}_skip_marks(&at))) return 0;
    const int month = {0}_read_month(&at);
    if (month == 0 || !{0}_skip_marks(&at)) return 0;
    const int is_month_first = digits == 0;
    if (is_month_first && ({0}_read_digits(&at, 2, &first) == 0 || !{0}_skip_marks(&at))) return 0;
    const int of_last = {0}_read_digits(&at, 4, &last);
    if (digits == 4 ? of_last < 1 || of_last > 2 : of_last != 4 && (is_month_first || of_last != 2)) return 0;
    if (digits != 4 && of_last == 2) last += last < 69 ? 2000 : 1900;
    const int year = digits == 4 ? first : last, day = digits == 4 ? last : first;
    const int length = snprintf(numbers, sizeof numbers, "%04d-%d-%d%.48s", year, month, day, at);
    if (length < 0 || (size_t)length >= size) return 0;
    memcpy(all, numbers, (size_t)length + 1);
    return 1;
}}

/* Days since 1970-01-01, with a time of day as a part of a day; of a time alone, that part. `order` says where
   year, month and day stand: "ymd", "dmy" or "mdy". Where the month has a name, they may stand in any order. */
static int {0}_read_date(const char *text, const char *order, double *value) {{
    char all[64], mark, mark_again;
    int part[3], length = 0;
    double time = 0.0, zone = 0.0;
    const char *at = all;
    {0}_trim(text, all, sizeof all);
    if ({0}_number_month(all, sizeof all)) order = "ymd";
    if ({0}_read_time(&at, value) && *at == '\0') return 1;
    if (sscanf(all, order[0] == 'y' ? "%4d%c%2d%c%2d%n" : "%2d%c%2d%c%4d%n", part, &mark, part + 1, &mark_again,
               part + 2, &length) != 5 ||
        mark != mark_again || strchr("-/.", mark) == NULL)
        return 0;
    int year = part[strchr(order, 'y') - order];
    const int month = part[strchr(order, 'm') - order], day = part[strchr(order, 'd') - order];
    static const int days_of[] = {{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}};
    if (order[2] == 'y' && length >= 3 && !isdigit((unsigned char)all[length - 3])) year += year < 69 ? 2000 : 1900;
    if (month < 1 || month > 12 || day < 1 || day > days_of[month - 1]) return 0;
    at = all + length;
    if (*at != '\0') {{
        if (*at != 'T' && *at != ' ') return 0;
        ++at;
        if (!{0}_read_time(&at, &time)) return 0;
        if (*at == ' ') ++at;
        int hours, minutes = 0;
        if (*at == 'Z' || *at == 'z') {{
            ++at;
        }} else if (strcmp(at, "UTC") == 0 || strcmp(at, "GMT") == 0) {{
            at += 3;
        }} else if (*at == '+' || *at == '-') {{
            const int read = sscanf(at + 1, "%2d%n", &hours, &length);
            if (read != 1) return 0;
            const char *rest = at + 1 + length;
            if (*rest == ':') ++rest;
            if (*rest != '\0' && (sscanf(rest, "%2d%n", &minutes, &length) != 1 || rest[length] != '\0')) return 0;
            zone = (hours + minutes / 60.0) / 24 * (*at == '-' ? -1 : 1);
            at += strlen(at);
        }}
        if (*at != '\0') return 0;
    }}
    /* Years begin in March, so that a leap day is the last of one. */
    const int shifted = month <= 2 ? year - 1 : year, of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int days = 365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719468;
    *value = days + time - zone;
    return 1;
}}
)";

std::string weights_of(const Vector& weights) { return fmt::format("{{{}}}", literals(weights)); }

/// A row of numbers.
std::string margins_of_numbers(const ModelTerms& terms, const std::string& name) {
  const std::size_t columns = terms.columns.size();
  const Index outputs = terms.outputs();
  std::string text =
      fmt::format("\nstatic const struct {{\n    double fill, centre, weight[{}];\n}} {}_terms[{}] = {{\n",
                  outputs, name, columns);
  for (const ModelTerm& term : terms.columns)
    text += fmt::format("    {{{}, {}, {}}},\n", term.fill ? literal(*term.fill) : "NAN",
                        literal(term.centre), weights_of(term.weight));
  return text + fmt::format(R"(}};

/* What the columns add up to, one number for each output. */
void {0}_margins(const double x[{1}], double margin[{2}]) {{
    static const double intercept[{2}] = {{{3}}};
    for (int k = 0; k < {2}; ++k) margin[k] = intercept[k];
    for (int j = 0; j < {1}; ++j) {{
        const double value = isnan(x[j]) ? {0}_terms[j].fill : x[j];
        for (int k = 0; k < {2}; ++k) margin[k] += {0}_terms[j].weight[k] * (value - {0}_terms[j].centre);
    }}
}}
)",
                            name, columns, outputs, literals(terms.intercept));
}

/// A row of texts.
std::string margins_of_texts(const ModelTerms& terms, const std::string& name) {
  const auto has = [&](ColumnKind kind) {
    return std::any_of(terms.columns.begin(), terms.columns.end(),
                       [kind](const ModelTerm& term) { return term.column.kind == kind; });
  };
  const char other = terms.decimal == ',' ? '.' : ',';
  const std::string missing = string_literals(field::kMissing);
  std::string text = fmt::format(kReadMissing, name, terms.decimal, other, missing);
  std::string readers;
  const auto add_reader = [&](ColumnKind kind, std::string_view code, std::string_view call) {
    if (!has(kind)) return;
    text += fmt::format(fmt::runtime(code), name, terms.decimal, other, string_literals(field::kMonths));
    readers += fmt::format("            case {}:\n                is_read = {}_{};\n                break;\n",
                           static_cast<int>(kind), name, call);
  };
  add_reader(ColumnKind::number, kReadNumber, "read_number(x[j], term->form, &value)");
  add_reader(ColumnKind::boolean, kReadBoolean, "read_boolean(x[j], &value)");
  add_reader(ColumnKind::date, kReadDate, "read_date(x[j], term->form, &value)");

  const Index outputs = terms.outputs();
  std::string levels, rows;
  std::size_t first = 0;
  for (const ModelTerm& term : terms.columns) {
    constexpr std::string_view kOrders[] = {"ymd", "dmy", "mdy"};
    const std::string unit = field::unit_of(term.column);
    const std::string_view form = term.column.kind == ColumnKind::date
                                      ? kOrders[static_cast<std::size_t>(term.column.order)]
                                      : std::string_view(unit);
    const std::size_t levels_of_term = term.is_category() ? term.column.levels.size() : 0;
    const std::string fill = term.fill ? literal(*term.fill) : "NAN";
    rows += fmt::format("    {{{}, {}, {}, {}, {}, {}, {}, {}}},\n", static_cast<int>(term.column.kind),
                        string_literal(form), first, first + levels_of_term, fill,
                        term.ignores_text() ? fill : "NAN", literal(term.centre),
                        weights_of(term.is_category() ? Vector::Zero(outputs) : term.weight));
    for (std::size_t k = 0; k < levels_of_term; ++k)
      levels += fmt::format("    {{{}, {}}},\n", string_literal(term.column.levels[k]),
                            weights_of(term.of_level.row(static_cast<Index>(k)).transpose()));
    first += levels_of_term;
  }
  if (has(ColumnKind::category))
    text += fmt::format(
        "\nstatic const struct {{\n    const char *text;\n    double weight[{}];\n}} "
        "{}_levels[{}] = {{\n{}}};\n",
        outputs, name, first, levels);
  text += fmt::format(R"(
/* Kinds are number 0, boolean 1, date 2, category 3; the form is the unit of a number and the order of a date. */
static const struct {0}_term {{
    int kind;
    const char *form;
    int first_level, end_of_levels;
    double fill, of_other_text, centre, weight[{1}];
}} {0}_terms[{2}] = {{
{3}}};

/* What the columns add up to, one number for each output; NAN where a text is not what its column holds. */
void {0}_margins(const char *const x[{2}], double margin[{1}]) {{
    static const double intercept[{1}] = {{{4}}};
    for (int k = 0; k < {1}; ++k) margin[k] = intercept[k];
    for (int j = 0; j < {2}; ++j) {{
        const struct {0}_term *const term = &{0}_terms[j];
        double value = NAN;
        int is_read = 0;
        char start[16];
        {0}_trim(x[j], start, sizeof start);
        const int is_missing = {0}_is_missing(start);
)",
                      name, outputs, terms.columns.size(), rows, literals(terms.intercept));
  if (has(ColumnKind::category))
    text += fmt::format(R"(        if (term->kind == 3) {{
            const char *const level = is_missing ? "" : x[j];
            const size_t blanks = strspn(level, " \t");
            size_t length = strlen(level + blanks);
            while (length > 0 && strchr(" \t", level[blanks + length - 1]) != NULL) --length;
            for (int i = term->first_level; i < term->end_of_levels; ++i) {{
                const char *const known = {0}_levels[i].text;
                if (strcmp(known, level) != 0 && (strncmp(known, level + blanks, length) != 0 || known[length] != '\0'))
                    continue;
                for (int k = 0; k < {1}; ++k) margin[k] += {0}_levels[i].weight[k];
                break;
            }}
            continue;
        }}
)",
                        name, outputs);
  if (readers.empty()) return text + "        (void)value, (void)is_read;\n    }\n}\n";
  return text + fmt::format(R"(        if (is_missing) {{
            value = term->fill;
        }} else {{
            switch (term->kind) {{
{1}            }}
            if (!is_read) value = term->of_other_text;
        }}
        for (int k = 0; k < {0}; ++k) margin[k] += term->weight[k] * (value - term->centre);
    }}
}}
)",
                            outputs, readers);
}

}  // namespace

std::string c_code(const FittedModel& model, const ModelTerms& terms, const std::string& name) {
  require_name(name);
  const std::size_t columns = terms.columns.size();
  const auto outputs = static_cast<std::size_t>(terms.outputs());
  const std::string x = terms.has_text ? fmt::format("const char *const x[{}]", columns)
                                       : fmt::format("const double x[{}]", columns);
  std::string text =
      terms.has_text
          ? fmt::format(
                "/* {}. x holds the fields of a row, as text that stands in a file, in the order\n   of "
                "{}_columns; a missing value is NULL or \"\". */\n#include <ctype.h>\n#include "
                "<math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n",
                origin(model), name)
          : fmt::format(
                "/* {}. x holds a row, in the order of {}_columns; a missing value is NAN. */\n#include "
                "<math.h>\n\n",
                origin(model), name);
  text += fmt::format("const char *const {}_target = {};\n", name, string_literal(model.target_name));
  text += fmt::format("const char *const {}_columns[{}] = {{\n", name, columns);
  for (const ModelTerm& term : terms.columns)
    text += fmt::format("    {},\n", string_literal(term.column.name));
  text += "};\n";
  if (model.labels) {
    const Labels& labels = *model.labels;
    text += labels.names.empty()
                ? fmt::format("const double {}_labels[{}] = {{{}}};\n", name, labels.classes(),
                              literals(Eigen::Map<const Vector>(labels.values.data(), labels.classes())))
                : fmt::format("const char *const {}_labels[{}] = {{{}}};\n", name, labels.classes(),
                              string_literals(labels.names));
  }
  text += terms.has_text ? margins_of_texts(terms, name) : margins_of_numbers(terms, name);
  const Link link = model.link();
  if (link == Link::identity || link == Link::exponential)
    return text + fmt::format(R"(
/* The target, as expected. */
double {0}({1}) {{
    double margin[1];
    {0}_margins(x, margin);
    return {2};
}}
)",
                              name, x, link == Link::identity ? "margin[0]" : "exp(margin[0])");
  const auto classes = static_cast<std::size_t>(model.labels->classes());
  text +=
      fmt::format(R"(
/* The place in {0}_labels of the label predicted{3}. */
int {0}({1}) {{
    double margin[{2}];
    {0}_margins(x, margin);
)",
                  name, x, outputs, terms.has_text ? "; -1 where a text is not what its column holds" : "");
  if (terms.has_text) text += "    if (isnan(margin[0])) return -1;\n";
  text += link == Link::softmax ? fmt::format(R"(    int largest = 0;
    for (int k = 1; k < {}; ++k)
        if (margin[k] > margin[largest]) largest = k;
    return largest;
}}
)",
                                              outputs)
                                : "    return margin[0] >= 0.0;\n}\n";
  if (link == Link::sign) return text;
  return text +
         fmt::format(
             R"(
/* The probability of each of {0}_labels. */
void {0}_probabilities({1}, double probability[{2}]) {{
    double largest = 0.0, sum = 0.0;
{3}    for (int k = 0; k < {2}; ++k) largest = k == 0 || probability[k] > largest ? probability[k] : largest;
    for (int k = 0; k < {2}; ++k) sum += probability[k] = exp(probability[k] - largest);
    for (int k = 0; k < {2}; ++k) probability[k] /= sum;
}}
)",
             name, x, classes,
             link == Link::softmax
                 ? fmt::format("    {}_margins(x, probability);\n", name)
                 : fmt::format("    probability[0] = 0.0;\n    {}_margins(x, probability + 1);\n", name));
}

}  // namespace yosida
