import { useState } from "react";
import { Button } from "../../parts/button.tsx";
import { copyText } from "../../parts/copy-text.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { TextField } from "../../parts/fields.tsx";

export interface MadeKey {
  readonly name: string;
  readonly key: string;
  /** This tab had none, and uses it. */
  readonly isTaken: boolean;
}

/** The one time that a key is shown. */
export function NewKey({
  made: { name, key, isTaken },
  onClose,
}: {
  readonly made: MadeKey;
  readonly onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await copyText(key);
    setCopied(true);
  };
  return (
    <Dialog
      title={`The key of ${name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => void copy()}>{isCopied ? "Copied" : "Copy"}</Button>
          <Button kind="main" onClick={onClose}>
            I have kept it
          </Button>
        </>
      }
    >
      <div className="grid gap-3">
        <TextField label="Key" readOnly value={key} onFocus={({ target }) => target.select()} />
        <p>
          Keep it now: it is stored nowhere and not shown again. Requests bear it in the header{" "}
          <code className="font-mono text-xs">x-api-key</code>.
        </p>
        {isTaken && (
          <p className="text-warn">From now on every request needs a key. This tab uses this one until it is closed.</p>
        )}
      </div>
    </Dialog>
  );
}
