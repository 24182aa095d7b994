import { expect, test } from "vitest";
import { findJsonFault } from "./find-json-fault.ts";

/** A text, the part of it that is pointed at, and how the message begins. */
const FAULTS: readonly (readonly [text: string, part: string, says: string])[] = [
  ['{"a": 1,}', ",", "JSON has no comma before `}`"],
  ['{"a": [1, 2, ]}', ",", "JSON has no comma before `]`"],
  ['{"a" 1}', "1", "`1` stands where JSON needs a colon"],
  ['{"a": "x" "b": 2}', '"', '`"` stands where JSON needs a comma or `}`'],
  ["[1 2]", "2", "`2` stands where JSON needs a comma or `]`"],
  ["{a: 1}", "a", "`a` stands where JSON needs a key in double quotes"],
  ["{'a': 1}", "'", "JSON has no single quotes"],
  ['{"a": 1 // one\n}', "/", "JSON has no comments"],
  ['{"a": True}', "True", "`True` stands where JSON needs a value"],
  ['{"a": NaN}', "NaN", "`NaN` stands where JSON needs a value"],
  ['{"a": 07}', "07", "`07` stands where JSON needs a value"],
  ['{"a": "C:\\dir"}', '"', "This text does not end on its line"],
  ['{"a": "one\ntwo"}', '"', "This text does not end on its line"],
  ['{"a": 1}}', "}", "`}` stands where JSON needs the end of the file"],
  ['{"a": {"b": 1}', "}", "The file ends where JSON needs a comma or `}`"],
  ["", "", "The file ends where JSON needs a value"],
];

for (const [text, part, says] of FAULTS) {
  test(`${JSON.stringify(text)}: ${says}`, () => {
    const fault = findJsonFault(text);
    expect(fault?.message.startsWith(says)).toBe(true);
    expect(text.slice(fault?.start, fault?.end)).toBe(part);
    expect(fault?.remedy).not.toBe("");
  });
}

test("JSON has none, also with a mark of its encoding, and however deep it goes", () => {
  for (const text of [
    '\ufeff{"a": [1, -2.5e3, "\\u00e9", null, true, {}]}',
    " 7 ",
    "[".repeat(500) + "]".repeat(500),
  ]) {
    expect(findJsonFault(text)).toBeUndefined();
  }
});

test("brackets without end neither take long nor overflow", () => {
  expect(findJsonFault("[".repeat(1_000_000))).toBeUndefined();
});
