// Turns of a conversation that fail, are cut off, or are replaced, edited and deleted.
import type { Page } from '@playwright/test';
import { violations } from './fixtures/axe';
import { ModelServer } from './fixtures/model';
import { expect, test } from './fixtures/test';

let model: ModelServer;

test.use({
  environment: async ({}, use) => {
    model = await ModelServer.start();
    await use({ ...model.environment, SERVICE_TOOLS__REQUIRE_APPROVAL: '["web_fetch"]' });
    await model.close();
  },
});

const writing = (page: Page) => page.getByRole('textbox', { name: 'Message' });
const messages = (page: Page) => page.getByRole('region', { name: 'Messages' });
const question = (page: Page, text: string) => messages(page).getByRole('article', { name: 'You' }).filter({ hasText: text });

async function open(page: Page, path = '/chat'): Promise<void> {
  await page.goto(path);
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(writing(page)).toBeVisible();
}

async function ask(page: Page, text: string): Promise<void> {
  await writing(page).fill(text);
  await writing(page).press('Enter');
  await expect(writing(page)).toHaveValue('');
}

/** The contents of the latest request to the model. */
const sent = (): unknown[] => (model.asked.at(-1)?.messages ?? []).filter(({ role }) => role !== 'system').map(({ content }) => content);

test('a failed turn says why in the words of the provider, also after a reload, and does not spoil the next one', async ({ home: _, page }) => {
  await open(page);
  const poison = 'Invalid prompt: it was flagged as potentially violating our usage policy.';
  model.next({ refuse: 400, message: poison });
  await ask(page, 'Something that the provider refuses');
  const said = messages(page).getByText(`The provider says: ${poison}`);
  await expect(said).toBeVisible();
  await page.reload();
  await expect(said).toBeVisible();
  // The refused text is not sent again with the next message.
  await ask(page, 'Something else');
  await expect(messages(page).getByText('You said: Something else')).toBeVisible();
  expect(sent()).toEqual(['Something else']);
  // 429 names the time, 401 leads to the providers.
  for (let tries = 0; tries < 4; tries++) model.next({ refuse: 429, message: 'Rate limit reached for requests.', retryAfter: 38 });
  await ask(page, 'Too fast');
  await expect(messages(page).getByText('The provider asks you to wait 38 s before the next request.')).toBeVisible();
  await page.reload();
  await expect(messages(page).getByText('The provider asks you to wait 38 s before the next request.')).toBeVisible();
  model.reset();
  model.next({ refuse: 401, message: 'Incorrect API key provided: sk-test.' });
  await ask(page, 'With a wrong key');
  await expect(messages(page).getByText('rejected the key')).toBeVisible();
  await expect(messages(page).getByText('sk-test')).toHaveCount(0);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await messages(page).getByRole('link', { name: 'Open providers' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Providers' })).toBeVisible();
});

test('a used-up budget says until when, and leads to where it is raised', async ({ home, page }) => {
  await open(page);
  await ask(page, 'The only one');
  await expect(messages(page).getByText('You said: The only one')).toBeVisible();
  await home.rpc('budgets.set', { scope: 'all', period: 'month', tokens: 1 });
  await writing(page).fill('One too many');
  await writing(page).press('Enter');
  const why = messages(page).getByRole('alert').filter({ hasText: 'The budget “Everything” is used up' });
  await expect(why).toBeVisible();
  await expect(why).not.toContainText(/\d{4}-\d{2}-\d{2}T/);
  await why.getByRole('link', { name: 'Open usage' }).click();
  await page.getByRole('button', { name: 'Delete budget' }).click();
  await expect(page.getByText('No budgets yet')).toBeVisible();
});

test('a message can be edited and deleted, and an answer regenerated', async ({ home, page }) => {
  await open(page);
  await ask(page, 'First');
  await expect(messages(page).getByText('You said: First')).toBeVisible();
  await ask(page, 'Second');
  await expect(messages(page).getByText('You said: Second')).toBeVisible();
  // Regenerating replaces the answer instead of asking twice.
  model.next({ text: ['Another answer'] });
  await page.getByRole('button', { name: 'Regenerate' }).press('Enter');
  await expect(messages(page).getByText('Another answer')).toBeVisible();
  // The pressed button is gone.
  await expect(writing(page)).toBeFocused();
  await expect(messages(page).getByText('You said: Second')).toHaveCount(0);
  await expect(question(page, 'Second')).toHaveCount(1);
  expect(sent()).toEqual(['First', 'You said: First', 'Second']);
  // Editing replaces the message and everything after it; Escape gives it up.
  await question(page, 'First').getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await expect(writing(page)).toHaveValue('First');
  await writing(page).press('Escape');
  await expect(writing(page)).toHaveValue('');
  await question(page, 'First').getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Edit' }).click();
  await expect(page.getByText('Editing. Sending replaces this message and everything after it.')).toBeVisible();
  await ask(page, 'Premier');
  await expect(messages(page).getByText('You said: Premier')).toBeVisible();
  await expect(messages(page).getByRole('article', { name: 'You' })).toHaveCount(1);
  expect(sent()).toEqual(['Premier']);
  await ask(page, 'More');
  await expect(messages(page).getByText('You said: More')).toBeVisible();
  await question(page, 'Premier').getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(messages(page).getByText('Premier')).toHaveCount(0);
  await page.reload();
  await expect(messages(page).getByText('You said: More')).toBeVisible();
  const session = page.url().split('/').at(-1);
  const stored = await home.rpc<{ messages: { content: string }[] }>('chat.history', { session });
  expect(stored.messages.map(({ content }) => content)).toEqual(['More', 'You said: More']);
});

test('an answer cut off by a restart is marked as interrupted, and continues', async ({ home, page, complaints }) => {
  complaints.allowDowntime();
  await open(page);
  model.next({ text: ['One, two, ', 'three'], hold: true });
  await ask(page, 'Count');
  await expect(messages(page).getByText('One, two,')).toBeVisible();
  // While it is written, the answer ends with a caret.
  const caret = () => page.locator('.streaming p').last().evaluate((one) => getComputedStyle(one, '::after').content);
  expect(await caret()).toBe('""');
  const session = page.url().split('/').at(-1);
  await home.stop('SIGKILL');
  await home.run();
  await expect(page.getByText('Live', { exact: true })).toBeVisible();
  await expect(messages(page).getByText(/^Interrupted/)).toBeVisible();
  await expect(page.locator('.streaming')).toHaveCount(0);
  model.next({ text: ['three, four.'] });
  await page.getByRole('button', { name: 'Continue' }).click();
  await expect(messages(page).getByText('three, four.')).toBeVisible();
  expect(sent()).toEqual(['Count', 'One, two,', 'Continue.']);
  expect(page.url()).toContain(session ?? '');
});

test('an answer that the provider cuts says so, also after a reload, and continues', async ({ home: _, page }) => {
  await open(page);
  model.next({ text: ['One, two, ', ''], hold: true, cut: true });
  await ask(page, 'Count');
  await expect(messages(page).getByText('One, two,')).toBeVisible();
  model.go();
  const cut = messages(page).getByText('Interrupted: the answer is incomplete.');
  await expect(cut).toBeVisible();
  await expect(messages(page).getByText('The model provider local could not be reached or closed the connection early.')).toBeVisible();
  await expect(page.locator('.streaming')).toHaveCount(0);
  await page.reload();
  await expect(cut).toBeVisible();
  model.next({ text: ['four.'] });
  await page.getByRole('button', { name: 'Continue' }).press('Enter');
  await expect(messages(page).getByText('four.')).toBeVisible();
  await expect(writing(page)).toBeFocused();
  expect(sent()).toEqual(['Count', 'One, two, ', 'Continue.']);
  await expect(page.getByRole('button', { name: 'Continue' })).toHaveCount(0);
});

test.describe('with a turn of 15 seconds', () => {
  test.use({
    environment: async ({}, use) => {
      model = await ModelServer.start();
      await use({ ...model.environment, SERVICE_AGENTS__TURN_TIMEOUT_SECONDS: '15' });
      await model.close();
    },
  });

  test('an answer that stalls names who is waited for, then ends as incomplete and continues', async ({ home: _, page }) => {
    await open(page);
    model.next({ text: ['One, two, ', 'never sent'], hold: true });
    await ask(page, 'Count');
    await expect(messages(page).getByText('One, two,')).toBeVisible();
    await expect(messages(page).getByText('Still waiting for local/test-model…')).toBeVisible();
    const ended = messages(page).getByText(/^The turn was stopped after 15 seconds/);
    await expect(ended).toBeVisible();
    await expect(messages(page).getByText('Interrupted: the answer is incomplete.')).toBeVisible();
    await expect(page.locator('.streaming')).toHaveCount(0);
    await expect(messages(page).getByText(/Still waiting/)).toHaveCount(0);
    await page.reload();
    await expect(ended).toBeVisible();
    await expect(messages(page).getByText('One, two,')).toBeVisible();
    model.next({ text: ['three.'] });
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(messages(page).getByText('three.')).toBeVisible();
    expect(sent()).toEqual(['Count', 'One, two, ', 'Continue.']);
  });
});

test('after ten silent seconds the page says who is waited for', async ({ home: _, page }) => {
  await page.clock.install();
  await open(page);
  model.next({ text: ['Well, ', 'yes.'], hold: true });
  await ask(page, 'Are you there?');
  await expect(messages(page).getByText('Well,')).toBeVisible();
  await expect(messages(page).getByText(/Still waiting/)).toHaveCount(0);
  await page.clock.fastForward(11_000);
  await expect(messages(page).getByText('Still waiting for local/test-model…')).toBeVisible();
  model.go();
  await expect(messages(page).getByText('Well, yes.')).toBeVisible();
  await expect(messages(page).getByText(/Still waiting/)).toHaveCount(0);
});

test('drafts survive a reload, each in its conversation, and end with the logout', async ({ home, page }) => {
  await home.rpc('chat.send_sync', { text: 'An old one' });
  await open(page);
  await writing(page).fill('Not sent yet');
  await page.reload();
  await expect(writing(page)).toHaveValue('Not sent yet');
  await page.getByRole('link', { name: /An old one/ }).click();
  await expect(writing(page)).toHaveValue('');
  await writing(page).fill('Another draft');
  await page.reload();
  await expect(writing(page)).toHaveValue('Another draft');
  await ask(page, 'Sent');
  await expect(messages(page).getByText('You said: Sent')).toBeVisible();
  await page.reload();
  await expect(messages(page).getByText('You said: Sent')).toBeVisible();
  await expect(writing(page)).toHaveValue('');
  await page.getByRole('button', { name: 'Account and theme' }).click();
  await page.getByRole('menuitem', { name: 'Log out' }).click();
  await expect(page.getByRole('button', { name: 'Log in', exact: true })).toBeVisible();
  // The logout loads the page again.
  await expect(async () => expect(await page.evaluate(() => sessionStorage.length)).toBe(0)).toPass();
});

test('a session that began with a recording is named after its first message', async ({ home }) => {
  const { id } = await home.rpc<{ id: string }>('sessions.create', {});
  await home.rpc('chat.send_sync', { session: id, text: 'How warm is it outside?' });
  const session = await home.rpc<{ label: string }>('sessions.get', { id });
  expect(session.label).toBe('How warm is it outside?');
});

test('a tool call shows who allowed it, and when', async ({ home: _, page }) => {
  await open(page);
  for (const answer of ['Deny', 'Allow']) {
    model.next({ tool: { name: 'web_fetch', arguments: { url: `http://127.0.0.1:1/${answer}` } } });
    model.next({ text: [`After ${answer}.`] });
    await ask(page, `Fetch it (${answer})`);
    await page.getByRole('button', { name: answer, exact: true }).click();
    await expect(messages(page).getByText(`After ${answer}.`)).toBeVisible();
  }
  await page.reload();
  const cards = messages(page).getByRole('group').filter({ hasText: 'web_fetch' });
  await cards.first().getByText('web_fetch').click();
  await expect(cards.first().getByText(/^Denied by You/)).toBeVisible();
  await cards.last().getByText('web_fetch').click();
  await expect(cards.last().getByText(/^Allowed by You/)).toBeVisible();
  await expect(cards.last().getByText(/^Allowed by/).getByRole('time')).toBeVisible();
});

test('a tool call that was not made says so after a reload: denied, failed, or not answered in time', async ({ home, page }) => {
  await open(page);
  const fetching = (text: string) => {
    model.next({ tool: { name: 'web_fetch', arguments: { url: 'http://127.0.0.1:1/secret' } } });
    model.next({ text: [text] });
  };
  for (const answer of ['Deny', 'Allow']) {
    fetching(`After ${answer}.`);
    await ask(page, `Fetch it (${answer})`);
    await page.getByRole('button', { name: answer, exact: true }).click();
    await expect(messages(page).getByText(`After ${answer}.`)).toBeVisible();
  }
  await home.rpc('config.set', { key: 'approvals.timeout_seconds', value: 2 });
  fetching('Then not.');
  await ask(page, 'Fetch it while I am away');
  await expect(messages(page).getByText('Then not.')).toBeVisible();
  const sentence = 'Nobody answered within 2 seconds, so the call was not made.';
  expect(JSON.stringify(model.asked.at(-1)?.messages.at(-1))).toContain(sentence);
  model.next({ tool: { name: 'calc', arguments: { expression: '6*7' } } });
  model.next({ text: ['It is 42.'] });
  await ask(page, 'Work it out');
  await expect(messages(page).getByText('It is 42.')).toBeVisible();
  const badges = messages(page).locator('summary .badge');
  await expect(badges).toHaveText(['Denied', 'Failed', 'Expired', 'Done']);
  await page.reload();
  await expect(badges).toHaveText(['Denied', 'Failed', 'Expired', 'Done']);
  const expired = messages(page).getByRole('group').filter({ hasText: 'Expired' });
  await expired.getByText('web_fetch').click();
  await expect(expired.getByRole('group', { name: 'Output' })).toHaveText(sentence);
  const nobody = expired.getByRole('paragraph').filter({ hasText: /^Nobody answered/ });
  await expect(nobody.getByRole('time')).toBeVisible();
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  // Only the call that nobody answered is in the audit log as expired.
  await page.goto('/settings/security/audit-log?kind=approval.expired');
  const rows = page.getByRole('list', { name: 'Audit log' }).locator('> li');
  await expect(rows).toHaveCount(1);
  await expect(rows.first()).toContainText('Approval expired: web_fetch');
  await expect(rows.first()).toContainText('Gatehouse');
});
