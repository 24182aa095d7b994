import { agent, approval, each, openPawl, run, text, workflow } from "pawl";
import { z } from "zod";

const Company = z.object({ name: z.string(), website: z.string() });
const Score = z.object({ score: z.number().min(0).max(10), why: z.string() });

export const enrich = workflow(
  "lead-enrichment-ts",
  { input: z.object({ companies: z.array(Company) }), budget: { usd: 2.5 } },
  ({ input }) => {
    const leads = each(input.companies, (company) => {
      const page = run("fetch", { url: company.website }, fetchPage, { retry: 3, timeout: "30s" });
      const prompt = text`Score ${company.name} as a customer, by its page:\n${page}`;
      return { company: company.name, mark: agent("score", { prompt, output: Score, model: "haiku" }) };
    });
    approval("send?", { show: leads, timeout: "2d" }); // What is declared below waits for the answer.
    return run("send", { leads }, ({ leads }) => ({ sent: leads.filter(({ mark }) => mark.score >= 5).length }));
  },
);

async function fetchPage({ url }: { url: string }, { signal }: { signal: AbortSignal }): Promise<string> {
  const answer = await fetch(url, { signal });
  if (!answer.ok) throw new Error(`${url} answers ${answer.status}.`);
  return (await answer.text()).slice(0, 4_000);
}

if (process.argv[1] === import.meta.filename) {
  const companies = process.argv.slice(2).map((website) => ({ name: new URL(website).host, website }));
  const pawl = await openPawl({ data: ".pawl", workflows: [enrich], agent: process.env["AGENT"] ?? "simulated" });
  const started = await pawl.start(enrich, { companies }, { idempotencyKey: process.argv.slice(2).join() });
  console.log(`Run ${started.id}. When it asks: npx pawl approve ${started.id}`);
  console.log(await started.result());
  await pawl.close();
}
