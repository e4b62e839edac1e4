// The steps of the first visit, in order, and where they stand in the address.

export const STEPS = ['access', 'recovery', 'passkey', 'model', 'channel', 'webhook', 'done'] as const;
export type Step = (typeof STEPS)[number];

/** What a person sees of the order: three steps make one stage. */
export const STAGES = ['access', 'model', 'channel', 'webhook'] as const;
export type Stage = (typeof STAGES)[number];

/** Which stage a step belongs to; null when all are behind. */
export function stageOf(step: Step): Stage | null {
  if (step === 'done') return null;
  return step === 'model' || step === 'channel' || step === 'webhook' ? step : 'access';
}

/** The step that the address names; null when it names none. Before setup it is `access`, whatever the address says. */
export function stepOf(query: string, setupRequired: boolean): Step | null {
  if (setupRequired) return 'access';
  const named = new URLSearchParams(query).get('step');
  if (named === null) return null;
  const step = STEPS.find((one) => one === named);
  return step && step !== 'access' ? step : 'model';
}

export const addressOf = (step: Step): string => `/onboarding?step=${step}`;

/** The step after this one. A passkey is offered only where one can be made and none is there. */
export function after(step: Step, passkeyOffered: boolean): Step {
  const next = STEPS[STEPS.indexOf(step) + 1] ?? 'done';
  return next === 'passkey' && !passkeyOffered ? 'model' : next;
}
