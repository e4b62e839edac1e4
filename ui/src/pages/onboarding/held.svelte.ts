// One-time data from the setup: the recovery key until the user confirms that they stored it, and the reset
// settings. It is kept in memory only. The browser warns before a reload or a closed window loses it.

export const held = $state<{
  key: string | null;
  stored: boolean;
  /** Settings that a remote caller changed before the setup, and that the setup reset. */
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
