import { Dialog as Base } from "@base-ui/react/dialog";
import { type ReactNode, type RefObject, useRef } from "react";
import { Button } from "./button.tsx";

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  /** Buttons, the one that does it last. */
  readonly actions?: ReactNode;
  readonly isWide?: boolean;
  /** Absent: the first that can be used. */
  readonly firstFocus?: RefObject<HTMLButtonElement | null>;
}

/** Something that is answered or closed before the page goes on. Escape closes it. */
export function Dialog({ title, onClose, children, actions, isWide = false, firstFocus }: DialogProps) {
  return (
    <Base.Root open onOpenChange={(isOpen) => !isOpen && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40" style={{ background: "rgb(0 0 0 / 0.4)" }} />
        <Base.Popup
          {...(firstFocus && { initialFocus: firstFocus })}
          className={`fixed left-1/2 top-[6vh] z-50 flex max-h-[88vh] w-[min(94vw,var(--w))] -translate-x-1/2 flex-col rounded-lg border border-line bg-surface shadow-xl ${isWide ? "[--w:64rem]" : "[--w:34rem]"}`}
        >
          <header className="flex items-center justify-between gap-2 border-b border-line px-4 py-2">
            <Base.Title className="min-w-0 break-words text-base font-semibold">{title}</Base.Title>
            <Base.Close
              render={
                <Button kind="quiet" aria-label="Close">
                  ✕
                </Button>
              }
            />
          </header>
          <div className="min-h-0 flex-1 overflow-auto px-4 py-3">{children}</div>
          {actions && (
            <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-2">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface AskFirstProps {
  readonly title: string;
  readonly children: ReactNode;
  /** The words of the button that does it: a verb. */
  readonly yes: string;
  readonly isBusy?: boolean;
  /** A key has asked: Enter is the second one. Else nothing that does it has the focus. */
  readonly isYesNext?: boolean;
  readonly onYes: () => void;
  readonly onClose: () => void;
}

/** Before something that cannot be undone. */
export function AskFirst({ title, children, yes, isBusy = false, isYesNext = false, onYes, onClose }: AskFirstProps) {
  const yesButton = useRef<HTMLButtonElement>(null);
  return (
    <Dialog
      {...(isYesNext && { firstFocus: yesButton })}
      title={title}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Keep it as it is</Button>
          <Button ref={yesButton} kind={isYesNext ? "main" : "danger"} isBusy={isBusy} onClick={onYes}>
            {yes}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}
