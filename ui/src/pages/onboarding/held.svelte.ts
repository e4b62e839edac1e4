// What the answer to the setup tells this once. The recovery key between the answer that shows it and "I stored it". It lives in memory alone, outlasts a gateway that is away for a
// moment, and the browser asks before a reload or a closed window loses it.

export const held = $state<{
  key: string | null;
  stored: boolean;
  /** Settings that a remote caller had changed before the setup, and that the setup reset. */
  reverted: readonly string[];
}>({ key: null, stored: false, reverted: [] });

const warn = (event: BeforeUnloadEvent) => {
  if (!held.stored) event.preventDefault();
};

export function hold(key: string): void {
  held.key = key;
  held.stored = false;
  addEventListener('beforeunload', warn);
}

export function release(): void {
  held.key = null;
  removeEventListener('beforeunload', warn);
}
