import { openPawl } from "pawl";
import { words } from "./flow.ts";

// The engine in a program of yours. It goes on with what was cut off the last time.
const pawl = await openPawl({ data: ".pawl", workflows: [words] });
const started = await pawl.start(words, { texts: ["Hello there.", "Good morning to you."] });
console.log(await started.result());
await pawl.close();
