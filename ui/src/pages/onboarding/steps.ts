// The steps of onboarding, in order, and their URLs.

export const STEPS = ['access', 'recovery', 'passkey', 'model', 'channel', 'webhook', 'done'] as const;
export type Step = (typeof STEPS)[number];

/** The stages shown to the user. The first stage covers three steps. */
export const STAGES = ['access', 'model', 'channel', 'webhook'] as const;
export type Stage = (typeof STAGES)[number];

/** The stage of a step; null after the last one. */
export function stageOf(step: Step): Stage | null {
  if (step === 'done') return null;
  return step === 'model' || step === 'channel' || step === 'webhook' ? step : 'access';
}

/**
 * Returns the step in the URL, or null if the URL has none. Before setup, always returns `access`.
 */
export function stepOf(query: string, setupRequired: boolean): Step | null {
  if (setupRequired) return 'access';
  const named = new URLSearchParams(query).get('step');
  if (named === null) return null;
  const step = STEPS.find((one) => one === named);
  return step && step !== 'access' ? step : 'model';
}

export const addressOf = (step: Step): string => `/onboarding?step=${step}`;

/** Returns the next step. A passkey is offered only if one can be created and none exists. */
export function after(step: Step, passkeyOffered: boolean): Step {
  const next = STEPS[STEPS.indexOf(step) + 1] ?? 'done';
  return next === 'passkey' && !passkeyOffered ? 'model' : next;
}

/**
 * Returns the step to show after `from` is done. Returns null if the user has already left `from`, by Back or by
 * skipping it.
 */
export const advance = (shown: Step | null, from: Step, passkeyOffered: boolean): Step | null =>
  shown === from ? after(from, passkeyOffered) : null;
