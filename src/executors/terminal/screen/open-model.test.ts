import { expect, onTestFinished, test, vi } from "vitest";
import { openModel } from "./open-model.ts";

test("a program that puts out broken sequences writes nothing to the log of whoever shows it", async () => {
  const told = vi.spyOn(console, "error").mockImplementation(() => undefined);
  onTestFinished(() => told.mockRestore());
  const model = await openModel({ columns: 80, rows: 24, scrollbackRows: 0 });
  await new Promise<void>((resolve) => model.write("\x1b[31\ufffd;still here\r\n", resolve));
  expect(model.buffer.active.getLine(0)?.translateToString(true)).toContain("still here");
  expect(told).not.toHaveBeenCalled();
});
