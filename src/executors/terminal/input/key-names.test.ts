import { expect, test } from "vitest";
import { toKeyInput } from "../tools/send-input.ts";

test.each([
  ["Enter", "\r"],
  ["Up", "\u001b[A"],
  ["F5", "\u001b[15~"],
  ["C-c", "\u0003"],
  ["C-C", "\u0003"],
  ["C-[", "\u001b"],
  ["C-?", "\u007f"],
  ["M-f", "\u001bf"],
  ["M-Enter", "\u001b\r"],
  ["y", "y"],
  ["é", "é"],
])("the key %s sends %j", (name, sent) => {
  expect(toKeyInput(name, false)).toBe(sent);
});

test.each(["Entr", "C-cc", "M-Entr", "", "toString"])("there is no key called %j", (name) => {
  expect(toKeyInput(name, false)).toBeUndefined();
});

test("arrows have another form where a program has asked for it", () => {
  expect([toKeyInput("Up", true), toKeyInput("Home", true), toKeyInput("F1", true)]).toEqual([
    "\u001bOA",
    "\u001bOH",
    "\u001bOP",
  ]);
});
