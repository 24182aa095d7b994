import type { Reporter, TestModule } from "vitest/node";
import { installCommand, packagesIn } from "./needs.ts";

/** Says at the end which tests were skipped because programs are missing, and the one command that installs them. */
export class SkippedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = new Map<string, number>();
    let skipped = 0;
    for (const test of modules.flatMap((module) => [...module.children.allTests("skipped")])) {
      const result = test.result();
      const packages = packagesIn(result.state === "skipped" ? result.note : undefined);
      if (packages.length > 0) skipped += 1;
      for (const name of packages) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    if (skipped === 0) return;
    const named = [...counts].map(([name, count]) => `${name} (${count})`).join(", ");
    console.log(`\nSkipped ${skipped} tests that need programs which are missing: ${named}.`);
    console.log(`Install: ${installCommand([...counts.keys()])}\n`);
  }
}
