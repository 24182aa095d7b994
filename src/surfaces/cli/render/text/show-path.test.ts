import { expect, test } from "vitest";
import { showPath } from "./sanitize.ts";

test("a path is shown with the names of its steps as they were written", () => {
  expect(showPath("Weather%20Agent")).toBe("Weather Agent");
  expect(showPath("Pl%C3%A4n%20%22100%25%22/fetch[2]#3")).toBe('Plän "100%"/fetch[2]#3');
});

test("what is no escaped text stays, and nothing in a name moves the cursor", () => {
  expect(showPath("a%C3b%ZZ")).toBe("a%C3b%ZZ");
  expect(showPath("a%1B[2Jb%0Ac")).toBe("ab c");
});
