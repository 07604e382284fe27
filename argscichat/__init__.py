"""The workbench of people who evaluate agents on ArgSciChat: command line, scoring of files."""
