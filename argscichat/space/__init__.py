"""The app that shows why an agent got its score: one file a tab, and what the tabs share."""
