// What is typed in a form is still there after the login if the session ended meanwhile; a user who leaves the form discards it.
import type { Page } from '@playwright/test';
import { logInByPassword } from './fixtures/entering';
import { receiver } from './fixtures/receiver';
import { useHttp } from './fixtures/refuse';
import { expect, type Gateway, test } from './fixtures/test';
import { make } from './fixtures/webhook';

/** Logs the page in with a session of its own, which `endSession` can end. */
async function logIn(page: Page, path: string): Promise<void> {
  await page.context().clearCookies();
  await page.goto(path);
  await logInByPassword(page);
}

async function endSession(gateway: Gateway, page: Page): Promise<void> {
  await gateway.call('DELETE', '/api/auth/sessions');
  await expect(page.getByText('You were logged out.')).toBeVisible();
}

/** What the browser stores, as text. */
const stores = (page: Page) => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));

test('a new agent is still in its form after the session ended', async ({ home, page }) => {
  await logIn(page, '/agents?new');
  await page.getByLabel('Name').fill('Careful');
  await page.getByLabel('Instructions').fill('Do no harm.');
  await page.getByRole('radio', { name: /^Only selected tools/ }).check();
  await page.getByRole('checkbox', { name: 'calc', exact: true }).uncheck();
  await endSession(home, page);
  await logInByPassword(page);
  await expect(page.getByLabel('Name')).toHaveValue('Careful');
  await expect(page.getByLabel('Instructions')).toHaveValue('Do no harm.');
  await expect(page.getByRole('checkbox', { name: 'calc', exact: true })).not.toBeChecked();
  // It still counts as unsaved. A user who leaves the form discards it.
  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.message();
    void dialog.accept();
  });
  await page.getByRole('link', { name: 'Cancel', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Agents', level: 1 })).toBeVisible();
  expect(asked).toContain('unsaved changes');
  await page.getByRole('link', { name: 'New agent' }).click();
  await expect(page.getByLabel('Name')).toHaveValue('');
});

test('an edited agent and an edited webhook keep their changes when the session ends', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Before', source_profile: 'github', deliver_only: true });
  await logIn(page, '/agents/default');
  await page.getByLabel('Instructions').fill('Answer in verse.');
  await endSession(home, page);
  await logInByPassword(page);
  await expect(page.getByLabel('Instructions')).toHaveValue('Answer in verse.');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect.poll(async () => (await home.rpc<{ system_prompt?: string }>('agents.get', { id: 'default' })).system_prompt).toBe('Answer in verse.');

  await page.goto(`/webhooks/${id}?tab=settings`);
  await page.getByLabel('Name', { exact: true }).fill('After');
  await endSession(home, page);
  await logInByPassword(page);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('After');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('heading', { name: 'After', level: 1 })).toBeVisible();
});

test('a restored change of a webhook does not undo what was saved elsewhere meanwhile', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Before', source_profile: 'github', deliver_only: true, rate_limit_per_minute: 7 });
  await logIn(page, `/webhooks/${id}?tab=settings`);
  await page.getByLabel('Name', { exact: true }).fill('After');
  await endSession(home, page);
  await home.rpc('webhooks.update', { id, rate_limit_per_minute: 9 });
  await logInByPassword(page);
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('After');
  await expect(page.getByLabel('Rate limit (per minute)')).toHaveValue('9');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await expect(page.getByRole('heading', { name: 'After', level: 1 })).toBeVisible();
  expect(await home.rpc('webhooks.get', { id })).toMatchObject({ name: 'After', rate_limit_per_minute: 9 });
});

test('a save of an agent does not undo what was saved elsewhere meanwhile', async ({ home, page }) => {
  await useHttp(page);
  await page.goto('/agents/default');
  await page.getByLabel('Instructions').fill('Answer in verse.');
  await home.rpc('agents.update', { id: 'default', name: 'Renamed', max_turns: 7 });
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Renamed', level: 1 })).toBeVisible();
  expect(await home.rpc('agents.get', { id: 'default' })).toMatchObject({
    name: 'Renamed',
    max_turns: 7,
    system_prompt: 'Answer in verse.',
  });
  await expect(page.getByLabel('Name')).toHaveValue('Renamed');
});

test('the input for a webhook, an agent or a channel that is deleted elsewhere can become a new one', async ({ home, page }) => {
  const { id } = await make(home, { name: 'Before', source_profile: 'github', deliver_only: true });
  await page.goto(`/webhooks/${id}?tab=settings`);
  await page.getByLabel('Name', { exact: true }).fill('After');
  await home.rpc('webhooks.delete', { id });
  await expect(page.getByText('This webhook was deleted elsewhere.')).toBeVisible();
  await expect(page.getByLabel('Name', { exact: true })).toHaveValue('After');
  await page.getByRole('button', { name: 'Create as a new webhook' }).click();
  await expect(page.getByRole('heading', { name: 'After', level: 1 })).toBeVisible();
  await expect(page).not.toHaveURL(new RegExp(id));
  await expect(page.locator('code.secret')).not.toBeEmpty();

  await home.rpc('agents.create', { id: 'triage', name: 'Triage', system_prompt: 'Sort.' });
  page.once('dialog', (dialog) => void dialog.accept());
  await page.goto('/agents/triage');
  await page.getByLabel('Name').fill('Sorting');
  await home.rpc('agents.delete', { id: 'triage' });
  await expect(page.getByText('This agent was deleted elsewhere.')).toBeVisible();
  await page.getByRole('button', { name: 'Add agent' }).click();
  await expect(page.getByRole('heading', { name: 'Sorting', level: 1 })).toBeVisible();
  const { agents } = await home.rpc<{ agents: { name: string }[] }>('agents.list');
  expect(agents).toContainEqual(expect.objectContaining({ name: 'Sorting', system_prompt: 'Sort.' }));

  const fields = { url: 'https://ntfy.example.org', topic: 'house' };
  const channel = await home.rpc<{ id: string }>('channels.create', { type: 'ntfy', label: 'Phone', fields });
  await page.goto(`/channels/${channel.id}`);
  await page.getByLabel('Topic', { exact: true }).fill('garden');
  await home.rpc('channels.delete', { id: channel.id });
  await expect(page.getByText('This channel was deleted elsewhere.')).toBeVisible();
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { name: 'Phone', level: 1 })).toBeVisible();
  await expect(page.getByText('This channel was deleted elsewhere.')).toHaveCount(0);
  await expect(page.getByLabel('Topic', { exact: true })).toHaveValue('garden');
});

for (const [wait, label] of [['59:00', 'Ops'], ['01:00:01', '']] as const) {
  test(`a form that opens ${wait} after the login ${label ? 'has its unsaved input' : 'is empty'}`, async ({ home, page }) => {
    await page.clock.install();
    await logIn(page, '/channels');
    await page.getByRole('link', { name: 'New channel' }).first().click();
    await page.getByRole('link', { name: /^HTTP receiver/ }).click();
    await page.getByLabel('Label').fill('Ops');
    await endSession(home, page);
    // The login is at the list of channels, so that the form does not open.
    await page.goBack();
    await logInByPassword(page);
    await expect(page.getByRole('heading', { name: 'Channels', level: 1 })).toBeVisible();
    await page.clock.fastForward(wait);
    await page.getByRole('link', { name: 'New channel' }).first().click();
    await page.getByRole('link', { name: /^HTTP receiver/ }).click();
    await expect(page.getByLabel('Label')).toHaveValue(label);
  });
}

test('a tool that is typed and not added is unsaved input', async ({ home, page }) => {
  await logIn(page, '/agents?new');
  await page.getByLabel('Another tool').fill('mcp__files__*');
  await endSession(home, page);
  await logInByPassword(page);
  await expect(page.getByLabel('Another tool')).toHaveValue('mcp__files__*');
  let asked = '';
  page.once('dialog', (dialog) => {
    asked = dialog.message();
    void dialog.accept();
  });
  await page.getByRole('link', { name: 'Cancel', exact: true }).click();
  await expect(page.getByRole('heading', { name: 'Agents', level: 1 })).toBeVisible();
  expect(asked).toContain('unsaved changes');
});

test('fields that were changed elsewhere after the session ended are not reverted', async ({ home, page }) => {
  await logIn(page, '/agents/default');
  await page.getByLabel('Instructions').fill('Answer in verse.');
  await endSession(home, page);
  await home.rpc('agents.update', { id: 'default', max_turns: 7, system_prompt: 'Answer in prose.' });
  await logInByPassword(page);
  // The field that the user changed is as typed.
  await expect(page.getByLabel('Instructions')).toHaveValue('Answer in verse.');
  await expect(page.getByLabel('Maximum model calls per turn')).toHaveValue('7');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await expect
    .poll(() => home.rpc('agents.get', { id: 'default' }))
    .toMatchObject({ system_prompt: 'Answer in verse.', max_turns: 7 });

  const { id } = await home.rpc<{ id: string }>('channels.create', {
    type: 'ntfy',
    label: 'Phone',
    fields: { url: 'https://ntfy.example.org', topic: 'house' },
  });
  await page.goto(`/channels/${id}`);
  await page.getByLabel('Topic', { exact: true }).fill('garden');
  await endSession(home, page);
  await home.rpc('channels.update', { id, label: 'Tablet', fields: { url: 'https://other.example.org' } });
  await logInByPassword(page);
  await expect(page.getByLabel('Topic', { exact: true })).toHaveValue('garden');
  await expect(page.getByLabel('Label')).toHaveValue('Tablet');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const stored = async () => (await home.rpc<{ channels: { id: string }[] }>('channels.list')).channels.find((one) => one.id === id);
  await expect
    .poll(stored)
    .toMatchObject({ label: 'Tablet', fields: { url: 'https://other.example.org', topic: 'garden' } });
});

test('a new channel and its secret are still in the form after the session ended, and the secret is not stored', async ({ home, page }) => {
  const there = await receiver();
  await logIn(page, '/channels?new=http');
  await page.getByLabel('Label').fill('Ops');
  await page.getByLabel('URL', { exact: true }).fill(there.url);
  await page.getByRole('textbox', { name: 'Headers' }).fill('X-Token: hidden-987');
  expect(await stores(page)).not.toContain('hidden-987');
  await endSession(home, page);
  expect(await stores(page)).not.toContain('hidden-987');
  await logInByPassword(page);
  await expect(page.getByLabel('Label')).toHaveValue('Ops');
  await expect(page.getByRole('textbox', { name: 'Headers' })).toHaveValue('X-Token: hidden-987');
  await page.getByRole('button', { name: 'Add channel' }).click();
  await expect(page.getByRole('heading', { name: 'Ops', level: 1 })).toBeVisible();
  // The next form is empty.
  await page.getByRole('link', { name: 'Back', exact: true }).click();
  await page.getByRole('link', { name: 'New channel' }).click();
  await page.getByRole('link', { name: /^HTTP receiver/ }).click();
  await expect(page.getByLabel('Label')).toHaveValue('');
  await there.close();
});
