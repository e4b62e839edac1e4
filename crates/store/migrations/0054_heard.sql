-- What was spoken of an answer until the person interrupted it. NULL if nobody did.
ALTER TABLE chat_messages ADD COLUMN heard TEXT;
