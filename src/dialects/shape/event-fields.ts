import { isEventField, MOST_FIELDS } from "../../core/graph/event-match.ts";
import { toExcerpt } from "../source/printable.ts";
import { anyMap } from "./containers.ts";
import { to } from "./shape.ts";

/** Paths of fields in the payload of an event, with what they must be. */
export const eventFields = to(anyMap(), (map, { problems }) => {
  const { size } = map.entries;
  const wrong = [...map.entries].find(([path]) => !isEventField(path));
  const at = wrong?.[1].key ?? map;
  const remedy = "Name fields of the payload, for example `order_id` or `order.id`.";
  if (size === 0 || size > MOST_FIELDS) {
    problems.error({
      code: "VALUE_INVALID",
      at: map,
      message: `An event is known by 1 to ${MOST_FIELDS} fields.`,
      remedy,
    });
  } else if (wrong !== undefined) {
    const message = `\`${toExcerpt(wrong[0])}\` is no path of a field.`;
    problems.error({ code: "VALUE_INVALID", at, message, remedy });
  }
  return map;
});
