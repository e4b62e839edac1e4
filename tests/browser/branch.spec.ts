// Chat: a conversation continues from one of its messages in another one, and the original stays.
import type { Page } from '@playwright/test';
import { expect } from './fixtures/test';
import { test } from './fixtures/with-model';

const messages = (page: Page) => page.getByRole('region', { name: 'Messages' });

async function ask(page: Page, text: string): Promise<void> {
  const writing = page.getByRole('textbox', { name: 'Message' });
  await writing.fill(text);
  await writing.press('Enter');
  await expect(writing).toHaveValue('');
}

test('a branch has the messages up to there, continues, and leaves the original', async ({ home, page, model }) => {
  void home;
  await page.goto('/chat');
  await ask(page, 'Which tree?');
  await expect(messages(page).getByText('You said: Which tree?')).toBeVisible();
  await ask(page, 'And which bird?');
  await expect(messages(page).getByText('You said: And which bird?')).toBeVisible();
  const original = page.url();

  const first = messages(page).getByRole('article', { name: 'You' }).first();
  await first.getByRole('button', { name: 'Message actions' }).click();
  await page.getByRole('menuitem', { name: 'Branch from here' }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Branch: Which tree?' })).toBeVisible();
  await expect(page).not.toHaveURL(original);
  await expect(messages(page).getByText('You said: Which tree?')).toBeVisible();
  await expect(messages(page).getByText('And which bird?')).toHaveCount(0);

  model.next({ text: ['A wren.'] });
  await ask(page, 'And which small bird?');
  await expect(messages(page).getByText('A wren.')).toBeVisible();
  // The model read the branch alone.
  const read = JSON.stringify(model.asked.at(-1)?.messages);
  expect(read).toContain('Which tree?');
  expect(read).not.toContain('And which bird?');

  await page.goto(original);
  await expect(messages(page).getByText('You said: And which bird?')).toBeVisible();
  await expect(messages(page).getByText('A wren.')).toHaveCount(0);
});
