import { describe, expect, it } from 'vitest';
import { advance, after, stageOf, stepOf } from './steps';

describe('the steps of the first visit', () => {
  it('begin with a way in, whatever the address says', () => {
    expect(stepOf('?step=webhook', true)).toBe('access');
    expect(stepOf('', true)).toBe('access');
  });

  it('stand in the address afterwards', () => {
    expect(stepOf('?step=webhook', false)).toBe('webhook');
    expect(stepOf('', false)).toBeNull();
    expect(stepOf('?other=1', false)).toBeNull();
  });

  it('never ask for the first way in twice, and go on from an unknown name', () => {
    expect(stepOf('?step=access', false)).toBe('model');
    expect(stepOf('?step=nothing', false)).toBe('model');
  });

  it('leave the passkey out where none can be offered', () => {
    expect(after('recovery', true)).toBe('passkey');
    expect(after('recovery', false)).toBe('model');
    expect(after('webhook', true)).toBe('done');
    expect(after('done', true)).toBe('done');
  });

  it('make four stages', () => {
    expect(['access', 'recovery', 'passkey'].map((step) => stageOf(step as 'access'))).toEqual(Array(3).fill('access'));
    expect(stageOf('done')).toBeNull();
  });
});

it('leads nowhere from a step that is done after the user left it', () => {
  expect(advance('channel', 'channel', false)).toBe('webhook');
  expect(advance('webhook', 'channel', false)).toBeNull();
  expect(advance('model', 'channel', false)).toBeNull();
  expect(advance(null, 'channel', false)).toBeNull();
});
