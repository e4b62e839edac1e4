// Functions that the client needs but must not import. The app sets them at startup.

interface Hooks {
  /** Asks the user to confirm their identity. Returns whether they did. */
  askConfirmation: () => Promise<boolean>;
  /** Called when the gateway no longer accepts the session. */
  sessionEnded: () => void;
  /**
   * Called when the gateway refuses a request because the vault is sealed. Over HTTP, the page is
   * not notified in any other way.
   */
  vaultSealed: () => void;
  /** Whether the vault is known to be sealed. The gateway then refuses calls over HTTP that it accepts over the socket. */
  isSealed: () => boolean;
  /**
   * Resolves after the gateway has identified the user. Throws if the user is not authenticated.
   */
  admitted: () => Promise<void>;
}

const hooks: Hooks = {
  askConfirmation: () => Promise.resolve(false),
  sessionEnded: () => undefined,
  vaultSealed: () => undefined,
  isSealed: () => false,
  admitted: () => Promise.resolve(),
};

/** The number of logins since the page was loaded. */
let logins = 0;

/** Call it at each login. */
export const beginSession = (): void => void logins++;

/**
 * Returns a function that checks whether the user has logged in since. If so, a later 401 does not concern the new
 * session.
 */
export function sameSession(): () => boolean {
  const before = logins;
  return () => logins === before;
}

export const setHooks = (own: Partial<Hooks>): void => void Object.assign(hooks, own);
export const askConfirmation = (): Promise<boolean> => hooks.askConfirmation();
export const sessionEnded = (): void => hooks.sessionEnded();
export const vaultSealed = (): void => hooks.vaultSealed();
export const isSealed = (): boolean => hooks.isSealed();
export const admitted = (): Promise<void> => hooks.admitted();
