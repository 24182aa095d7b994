import { Link } from "wouter";
import { useCall } from "../../data/use-call.ts";
import { Facts } from "../../parts/list-and-detail.tsx";
import { Loading } from "../../parts/loading.tsx";
import { Problem } from "../../parts/problem.tsx";
import { LongText } from "../../parts/value-view.tsx";
import { Time } from "../../parts/values.tsx";
import { Question, type QuestionProps } from "./question.tsx";
import { asksOrAnswers } from "./use-approvals.ts";

/** A question of the address that is not in the list: it lies behind what was read of the list, or was answered, or is none. */
export function ClosedQuestion({ id, onAnswered }: { readonly id: string } & Pick<QuestionProps, "onAnswered">) {
  const { data, error } = useCall("GET /approvals/{id}", { id }, { when: asksOrAnswers });
  if (error !== null) return <Answered id={id} error={error} />;
  if (data === undefined) return <Loading what="the question" />;
  return <Question question={data} onAnswered={onAnswered} />;
}

/** Who has answered, and when, as the first events of its run tell. */
function Answered({ id, error }: { readonly id: string; readonly error: Parameters<typeof Problem>[0]["error"] }) {
  const [run = "", place = ""] = splitAt(id, ":");
  const [path, asked] = splitAt(place, "@");
  const { data } = useCall("GET /runs/{id}/events", { id: run });
  const answers = data?.items.flatMap(({ seq, event }) =>
    event.type === "approvalAnswered" && event.path === path && seq > Number(asked ?? 0) ? [event] : [],
  );
  const answer = answers?.[0];
  if (answer === undefined)
    return (
      <Problem error={error}>
        <p className="mt-2">
          <Link href={`/runs/${run}`} className="text-accent underline">
            See its run
          </Link>
        </p>
      </Problem>
    );
  const { answer: said, who, at, comment } = answer;
  const by = typeof who === "object" && who !== null && "name" in who ? who.name : answer.by;
  return (
    <div className="grid gap-3">
      <p className="text-base">This question is answered.</p>
      <Facts
        facts={[
          ["Answer", String(said)],
          ...(typeof by === "string" ? [["By", by] as const] : []),
          ...(typeof at === "number" ? [["When", <Time key="at" at={at} />] as const] : []),
          ...(typeof comment === "string" ? [["Comment", <LongText key="comment" text={comment} />] as const] : []),
          [
            "Run",
            <Link key="run" href={`/runs/${run}`} className="text-accent underline">
              See how it goes on
            </Link>,
          ],
        ]}
      />
    </div>
  );
}

function splitAt(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
