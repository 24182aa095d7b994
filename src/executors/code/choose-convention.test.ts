import { describe, expect, test } from "vitest";
import type { Language } from "./choose-convention.ts";
import { chooseConvention } from "./choose-convention.ts";

const program = "program";

describe("python", () => {
  test.each([
    ["def check(input): return 1", "check", "check"],
    ["async def check(input):\n    return 1", "check", "check"],
    ["import x\n\ncheck = make_check()", "check", "check"],
    ["check: Callable = make_check()", "check", "check"],
    ["class check:\n    pass", "check", "check"],
    ["def prüfe(input): return 1", "prüfe", "prüfe"],
    ["def main(input): return 1", undefined, "main"],
    // Only read by a function of another name.
    ["# reads sys.stdin\ndef check(input): return 1", "check", "check"],
    ["def check(user_input): return validate_input(user_input)", "check", "check"],
    ["class A:\n    def check(self): pass", "check", program],
    ["def checked(input): return 1", "check", program],
    ["if check == 1: pass", "check", program],
    ["check == 1", "check", program],
    ["print(1)", undefined, program],
    ["import sys, json\ndef check(d): return d\nprint(check(json.load(sys.stdin)))", "check", program],
    ["from sys import stdin\ndef check(d): return d", "check", program],
    ["import json\ndef check(d): return d\nprint(check(json.loads(input())))", "check", program],
    ["def check(d): return d\nprint(check(open(0).read()))", "check", program],
    ["def check(d): return d\nprint(check(open('/dev/stdin').read()))", "check", program],
    ["def f(x): return 1", "f)|(", program],
  ])("%j with the function %j is %s", (text, name, called) => {
    expect(calledIn("python", text, name)).toBe(called);
  });
});

describe.each(["javascript", "typescript"] as const)("%s", (language) => {
  test.each([
    ["export function check(input) {}", "check", "check"],
    ["export async function check(input) {}", "check", "check"],
    ["export const check = async (input) => 1;", "check", "check"],
    ["const f = 1; export { f as check };", "check", "check"],
    ["function check() {}\nexport {\n  other,\n  check,\n};", "check", "check"],
    ["import a from 'a'; export function check() {}", "check", "check"],
    ["exports.check = () => 1;", "check", "check"],
    ["module.exports.check = () => 1;", "check", "check"],
    ["module.exports = { other, check };", "check", "check"],
    ["export function $check() {}", "$check", "$check"],
    ["export default (input) => input;", undefined, "default"],
    ["export default function check(input) {}", "default", "default"],
    ["module.exports = (input) => input;", undefined, "default"],
    ["function check(input) {}", "check", program],
    ["export { check as other };", "check", program],
    ["export function checks() {}", "check", program],
    ["export function check() {}", undefined, program],
    ["// export function check() {}", "check", program],
    ["console.log(1)", undefined, program],
    ["export function check() {}\nfor await (const x of process.stdin) y(x);", "check", program],
    ["import { stdin } from 'node:process';\nexport function check() {}", "check", program],
    ["const text = fs.readFileSync(0, 'utf8');\nexports.check = 1;", "check", program],
  ])("%j with the function %j is %s", (text, name, called) => {
    expect(calledIn(language, text, name)).toBe(called);
  });
});

function calledIn(language: Language, text: string, name: string | undefined): string {
  const convention = chooseConvention(language, text, name);
  return convention.kind === "function" ? convention.name : convention.kind;
}
