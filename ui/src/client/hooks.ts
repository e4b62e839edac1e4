// What the client needs of the page and must not import: the page puts its own functions here when it starts.

interface Hooks {
  /** Lets the person prove that they are there; whether they did. */
  askConfirmation: () => Promise<boolean>;
  /** Called when the gateway no longer knows who this is. */
  sessionEnded: () => void;
  /** Called when the gateway refuses because its vault is sealed: over HTTP nothing else tells. */
  vaultSealed: () => void;
  /** Settles once it is known who this is; throws when they are not let in. */
  admitted: () => Promise<void>;
}

const hooks: Hooks = {
  askConfirmation: () => Promise.resolve(false),
  sessionEnded: () => undefined,
  vaultSealed: () => undefined,
  admitted: () => Promise.resolve(),
};

export const setHooks = (own: Partial<Hooks>): void => void Object.assign(hooks, own);
export const askConfirmation = (): Promise<boolean> => hooks.askConfirmation();
export const sessionEnded = (): void => hooks.sessionEnded();
export const vaultSealed = (): void => hooks.vaultSealed();
export const admitted = (): Promise<void> => hooks.admitted();
