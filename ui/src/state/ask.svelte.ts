// Questions that components ask and the shell shows, which are to confirm the user's identity and
// to unlock the vault.

interface Asked {
  resolve: (done: boolean) => void;
}

export const asked = $state<{ confirmation: Asked | null; unlock: Asked | null }>({ confirmation: null, unlock: null });

function ask(what: 'confirmation' | 'unlock'): Promise<boolean> {
  const before = asked[what];
  return new Promise((resolve) => {
    // Concurrent callers of the same question share one answer.
    asked[what] = {
      resolve: (done) => {
        before?.resolve(done);
        resolve(done);
      },
    };
  });
}

/** Asks the user to confirm by password or passkey. Returns whether they did. */
export const askConfirmation = (): Promise<boolean> => ask('confirmation');

/** Asks the user to unlock the vault. Returns whether it is unlocked afterwards. */
export const askUnlock = (): Promise<boolean> => ask('unlock');

/**
 * Settles all questions with no. The session that asked them has ended, so nothing that they allow may run after the
 * login.
 */
export function dropQuestions(): void {
  answer('confirmation', false);
  answer('unlock', false);
}

/**
 * Settles a question for the shell. Returns whether the question was still open, because the user may have closed its
 * dialog.
 */
export function answer(what: 'confirmation' | 'unlock', done: boolean): boolean {
  const waiting = asked[what];
  asked[what] = null;
  waiting?.resolve(done);
  return waiting !== null;
}
